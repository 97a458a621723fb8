"""``rankwood doctor``: versions, processor, threads, compiled code, and whether results are the expected ones."""

import argparse
import os
import platform
from typing import Any

from rich.console import Console

from rankwood._kernels.compile.jit import JIT, cached_code
from rankwood._kernels.compile.processor import processor
from rankwood._kernels.threads import threads
from rankwood._util.text import plural
from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.cli.shared import arguments, display
from rankwood.objectives._kernels.pairwise import pairwise_kernel

_EXAMPLE = """
rankwood doctor
rankwood doctor --json
"""
#: Packages whose versions results depend on, and optional ones.
_PACKAGES = [
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "catboost",
    "torch",
    "dask",
    "numba-cuda",
]
#: Variables of the environment that change how code is compiled or how many threads run it.
_VARIABLES = (
    "NUMBA_CPU_NAME",
    "NUMBA_CPU_FEATURES",
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "NPY_DISABLE_CPU_FEATURES",
)


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Show versions, processor, threads and compiled code, and check that results are the expected ones."
    parser = arguments.command(commands, "doctor", about, _EXAMPLE, run, show)
    parser.set_defaults(exit_code=lambda result: int(result["failed"]))
    arguments.add_threads(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Look around, then compute."""
    facts = {
        "rankwood": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: version_of(name) for name in _PACKAGES},
        "processor": processor()._asdict(),
        "threads": threads(args.threads),
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }
    with display.status("Computing (the first time compiles for some seconds)"):
        from rankwood.estimators.self_check import self_check

        checks = self_check(args.threads)
    results = [
        {"name": c.name, "digest": c.found, "expected": c.expected, "verdict": c.verdict}
        for c in checks
    ]
    failed = any(check.failed for check in checks)
    return {**facts, "compiled": _compiled(), "checks": results, "failed": failed}


def _compiled() -> dict[str, Any]:
    """Return the folder, the number and the size of the files with compiled pair kernels."""
    folder, files = cached_code(pairwise_kernel)
    sizes = [file.stat().st_size for file in files]
    return {"folder": folder and str(folder), "files": len(sizes), "bytes": sum(sizes)}


def show(result: dict[str, Any], out: Console) -> None:
    """Write it for people."""
    out.print(display.fact_table(_rows(result)))
    out.print()
    for check in result["checks"]:
        digest = f"{check['digest']}, " if check["digest"] else ""
        out.print(f"{check['name']}: {digest}{check['verdict']}", soft_wrap=True)
    if not result["failed"]:
        return
    out.print()
    out.print(
        "Not all results are the expected ones, so models trained here may differ from those of other machines. "
        "Please open an issue with the output of rankwood doctor --json.",
        soft_wrap=True,
    )


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    cpu, compiled = result["processor"], result["compiled"]
    there = [f"{name} {version}" for name, version in result["packages"].items() if version]
    absent = [name for name, version in result["packages"].items() if not version]
    target = cpu["compiled_for"]
    instead = "" if target == cpu["name"] else f"; code is compiled for {target}"
    rows = [
        ("Rankwood", f"{result['rankwood']}, Python {result['python']}, {result['system']}"),
        ("Packages", ", ".join(there)),
        ("Not installed", ", ".join(absent)),
        (
            "Processor",
            f"{cpu['machine']}, {cpu['name']}, {cpu['vectors'] or 'no vectors known'}{instead}",
        ),
        ("Threads", str(result["threads"])),
        ("Compiled code", _code_text(compiled)),
        ("Environment", ", ".join(f"{k}={v}" for k, v in result["environment"].items())),
    ]
    return [(name, text) for name, text in rows if text]


def _code_text(compiled: dict[str, Any]) -> str:
    if compiled["folder"] is None:
        return (
            "is not kept: every process compiles again" if JIT else "none: NUMBA_DISABLE_JIT is set"
        )
    size = f"{compiled['bytes'] / 2**20:.1f} MiB"
    return f"{plural(compiled['files'], 'file')} of pair kernels, {size}, in {compiled['folder']}"
