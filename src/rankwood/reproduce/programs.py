"""The programs behind a cell: versions, and a digest of the code that its numbers depend on."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from rankwood._kernels.compile.digest import code_digest
from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.fit.origin import package_of

_ROOT = Path(__file__).parents[1]
#: What every cell depends on. `_util`, which knows nothing of ranking, and what draws pages are not among it.
_EVERY = (
    *("_kernels", "data", "datasets", "metrics", "objectives", "fit", "forest", "estimators"),
    *("engines/*.py", "report/comparison/reference_models.py"),
    *("reproduce/models.py", "reproduce/networks.py", "reproduce/sources.py"),
)
_TUNED = ("tuning",)


def programs_of(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return what computes a cell: versions by package, and a digest of Rankwood's own code."""
    engines = _engines(spec)
    tuned = spec.get("tuner") is not None
    packages = {package_of(engine) for engine in engines} | ({"optuna"} if tuned else set())
    code = _digest(tuple(sorted(engines)), tuned)
    versions = {name: str(version_of(name)) for name in sorted(packages) if name}
    return {"rankwood": __version__, "code": code, **versions}


def changes(before: Iterable[Mapping[str, str]], now: Iterable[Mapping[str, str]]) -> str:
    """Return what differs between programs of cells: packages with their versions, or the code of Rankwood."""
    here = {name: version for programs in now for name, version in programs.items()}
    there: dict[str, set[str]] = {}
    for programs in before:
        for name, version in programs.items():
            if version != here.get(name):
                there.setdefault(name, set()).add(version)
    there.pop("code", None)
    texts = [
        f"{name} was {', '.join(sorted(versions))} and is {here.get(name, 'not used')}"
        for name, versions in there.items()
    ]
    return "; ".join(texts) or "the code of rankwood has changed"


def _engines(spec: Mapping[str, Any]) -> set[str]:
    """Return the engines that train a cell; none if it is computed from labels."""
    first = (spec.get("two_stage") or {}).get("first", {})
    return {one["engine"] for one in (spec, first) if "engine" in one}


@lru_cache
def _digest(engines: tuple[str, ...], tuned: bool) -> str:
    own = ["neural" if engine == "neural" else f"engines/{engine}" for engine in engines]
    return code_digest(_files([*_EVERY, *own, *(_TUNED if tuned else ())])).hex()[:16]


def _files(names: Iterable[str]) -> list[Path]:
    """Return the sources of folders, patterns and files."""
    patterns = [name if name.endswith(".py") else f"{name}/**/*.py" for name in names]
    return sorted({path for pattern in patterns for path in _ROOT.glob(pattern)})
