"""A file with one line for each finished run, so that a long example goes on where it stopped."""

import json
import platform
from importlib import import_module
from pathlib import Path


def finished(path, setting, *by):
    """Return the runs of this setting in a results file, by these of their fields."""
    runs = {}
    if Path(path).exists():
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            try:
                run = json.loads(line)
            except json.JSONDecodeError:  # the process ended while it wrote
                continue
            if run["setting"] == setting:
                runs[tuple(run[name] for name in by)] = run
    return runs


def keep(path, run):
    """Add a line to the results file; a line that an interrupt cut short is ended first."""
    with open(path, "a+b") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 1, 0))
        whole = file.read() in (b"", b"\n")
        file.write(b"" if whole else b"\n")
        file.write(json.dumps(run).encode() + b"\n")


def versions(*engines):
    """Return a line that says what was used."""
    names = ("rankwood", *engines, "numpy", "numba")
    used = [f"{name} {import_module(name).__version__}" for name in names]
    return f"Python {platform.python_version()}, {', '.join(used)}."
