"""First calls in fresh processes: import, the first gradients with an empty cache and with a full one, the demo."""

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

CODE = """
import time
start = time.perf_counter()
import rankwood as rw
imported = time.perf_counter()
rw.gradients("lambdarank-ndcg@10", [0, 1, 2], [0.1, 0.2, 0.3])
done = time.perf_counter()
print(imported - start, done - imported)
"""


def measure(cache: str) -> tuple[float, float]:
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True
    )
    imported, first = map(float, done.stdout.split())
    return imported, first


def demo(cache: str) -> float:
    """Return the seconds of `rankwood demo`."""
    start = time.perf_counter()
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run(
        [sys.executable, "-m", "rankwood", "demo"], env=env, capture_output=True, check=True
    )
    return time.perf_counter() - start


def run(repeats: int = 6) -> list[dict[str, Any]]:
    cold, warm, imports, demos = [], [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(measure(cache)[1])
            for _ in range(2):
                imported, first = measure(cache)
                imports.append(imported)
                warm.append(first)
        with tempfile.TemporaryDirectory() as cache:
            demos.append(demo(cache))
    found = {
        "first gradients, empty cache": (cold, 4.5),
        "rankwood demo, empty cache": (demos, 8.0),
        "first gradients, later process": (warm, 0.5),
        "import rankwood": (imports, 1.0),
    }
    return [
        {
            "what": what,
            "against": "-",
            "ours": f"{min(seconds):.2f} s",
            "other": "-",
            "ratio": None,
            "bar": f"≤ {bar} s",
            "met": min(seconds) <= bar,
            "spread": ", ".join(f"{s:.2f}" for s in seconds),
        }
        for what, (seconds, bar) in found.items()
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
