"""How much memory is available."""

import os

_MEMINFO = "/proc/meminfo"
_GROUPS = "/proc/self/cgroup"
_MOUNT = "/sys/fs/cgroup"


def available() -> float:
    """Return the bytes that can still be allocated within the limits of the machine, the control group and the process.

    If free memory is unknown, total memory is used; if that is unknown too, infinity.
    """
    free = _free()
    return min(_physical() if free is None else free, _group(), _limits())


def _free() -> float | None:
    for line in _text(_MEMINFO).splitlines():
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024
    return None


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _group() -> float:
    """Return the memory that the control groups of this process (version 1 or 2) leave."""
    left = float("inf")
    for line in _text(_GROUPS).splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds == "":
            names = ("memory.max", "memory.current", "inactive_file ")
            root = _MOUNT
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ")
            root = f"{_MOUNT}/memory"
        else:
            continue
        # The limit of a group holds for those inside it; in a container the root is the own group.
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts) + 1):
            left = min(left, _left("/".join([root, *parts[:depth]]), *names))
    return left


def _left(folder: str, limit: str, usage: str, cached: str) -> float:
    """Return a group's limit less what it uses; pages of files that can be dropped don't count."""
    most, used = _text(f"{folder}/{limit}").strip(), _text(f"{folder}/{usage}").strip()
    if not (most.isdigit() and used.isdigit()):  # there is no such file, or it says "max"
        return float("inf")
    lines = _text(f"{folder}/memory.stat").splitlines()
    spare = sum(float(line.split()[1]) for line in lines if line.startswith(cached))
    return max(0.0, float(most) - float(used) + spare)


def _limits() -> float:
    """Return the memory that the limits of this process leave, of address space and of data."""
    try:
        import resource
    except ImportError:  # not on Windows
        return float("inf")
    used = _text("/proc/self/statm").split() or ["0"] * 7
    page = os.sysconf("SC_PAGE_SIZE")
    left = float("inf")
    for kind, column in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        most = resource.getrlimit(kind)[0]
        if most != resource.RLIM_INFINITY:
            left = min(left, max(0.0, float(most - int(used[column]) * page)))
    return left


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
