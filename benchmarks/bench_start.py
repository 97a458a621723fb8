"""First calls in fresh processes: import, the first gradients with an empty cache, and with a full one."""

import os
import subprocess
import sys
import tempfile
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


def run(repeats: int = 6) -> list[dict[str, Any]]:
    cold, warm, imports = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(measure(cache)[1])
            for _ in range(2):
                imported, first = measure(cache)
                imports.append(imported)
                warm.append(first)
    found = {
        "first gradients, empty cache": (cold, 6.0),
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
