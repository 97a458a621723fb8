"""Reading LETOR text: time against scikit-learn's reader, and how much memory it takes at its peak."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZE = 200_000_000
FEATURES = 136

# The high-water mark of a process in /proc is its own; ru_maxrss starts from that of the parent.
_PEAK = """
import json, resource, sys
from rankwood.data.letor import load_letor

def peak():
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

big, small = sys.argv[1:]
load_letor(small)
before = peak()
data = load_letor(big)
print(json.dumps([peak() - before, data.X.nbytes]))
"""


def make(path: Path, size: int) -> None:
    """Write a file of about `size` bytes: one block of lines again and again, under new query ids."""
    rng = np.random.default_rng(0)
    values = rng.random((2000, FEATURES)).tolist()
    labels = rng.integers(0, 5, len(values)).tolist()
    rows = [" ".join(f"{j}:{v:.6f}" for j, v in enumerate(row, 1)) for row in values]
    written = query = 0
    with open(path, "w") as file:
        while written < size:
            for i, (label, row) in enumerate(zip(labels, rows, strict=True)):
                written += file.write(f"{label} qid:{query + i // 100} {row}\n")
                if written >= size:
                    break
            query += 20


def seconds(load, path: Path) -> float:
    start = time.perf_counter()
    load(str(path))
    return time.perf_counter() - start


def spread(times: list[float]) -> str:
    return f"{min(times):.2f} to {max(times):.2f} s"


def speed(big: Path) -> dict:
    from sklearn.datasets import load_svmlight_file

    from rankwood.data.letor import load_letor

    def other(path: str) -> None:
        load_svmlight_file(path, query_id=True)

    ours, others = [], []
    for turn in range(3):
        ours.append(seconds(load_letor, big))
        if turn < 2:
            others.append(seconds(other, big))
    return {
        "what": f"load_letor, {SIZE // 10**6} MB of text, 136 features",
        "against": "sklearn.datasets.load_svmlight_file",
        "ours": f"{min(ours):.2f} s",
        "other": f"{min(others):.2f} s",
        "ratio": min(others) / min(ours),
        "bar": "≥ 10×",
        "met": min(others) / min(ours) >= 10,
        "spread": f"ours {spread(ours)}, sklearn {spread(others)}",
    }


def memory(big: Path, small: Path) -> dict:
    grown = []
    for _ in range(3):
        command = [sys.executable, "-c", _PEAK, str(big), str(small)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peak, size = json.loads(done.stdout)
        if peak < 0.9 * size:
            raise RuntimeError(f"a peak of {peak} bytes can't be right for {size} bytes of data")
        grown.append(peak / size)
    return {
        "what": "load_letor, peak memory of the same file",
        "against": "the float32 matrix it returns",
        "ours": f"{max(grown) * size / 1e6:.0f} MB",
        "other": f"{size / 1e6:.0f} MB",
        "ratio": max(grown),
        "bar": "≤ 1.5×",
        "met": max(grown) <= 1.5,
        "spread": f"{min(grown):.2f} to {max(grown):.2f}",
    }


def run() -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        big, small = Path(folder, "big.txt"), Path(folder, "small.txt")
        make(big, SIZE)
        make(small, 100_000)
        seconds(_warm, small)
        return [speed(big), memory(big, small)]


def _warm(path: str) -> None:
    from rankwood.data.letor import load_letor

    load_letor(path)


if __name__ == "__main__":
    for row in run():
        print(json.dumps(row, ensure_ascii=False))
