"""Gradients and metrics on Numba's simulator of a GPU, one line of JSON each; `test_cuda` starts this in a process.

The simulator takes NUMBA_ENABLE_CUDASIM=1 before Numba is imported, and runs each thread of a team as one of Python's.
"""

import json
import sys

import numpy as np
from numba import cuda

import rankwood as rw
from rankwood._kernels.cuda import sorting
from rankwood._kernels.device import is_device_array
from rankwood.objectives._kernels.cuda import tasks

Y = np.array([0.0, 1, 2, 0, 1, 3, 0])
SCORES = np.array([0.3, -0.2, 0.5, 0.5, 1.0, 0.1, 0.2])
GROUP = [2, 5]
PAIRS = [[1, 0, 2.0], [4, 2, 0.5], [2, 4, 1.5], [5, 6, 1.0], [5, 3, 0.0]]


def gradients(name, scores, dtype):
    on_device = cuda.to_device(np.array(scores, dtype))
    assert is_device_array(on_device)
    data = rw.RankingData(np.zeros((7, 1)), Y, group=GROUP, pairs=PAIRS)
    got = rw.gradients(name, data, on_device, seed=3, round=2)
    return [x.copy_to_host().astype(float).tolist() for x in got]


def main(task):
    kind = task["kind"]
    if kind == "evaluate":
        on_device = cuda.to_device(np.array(task["scores"], np.float32))
        ev = rw.evaluate(task["metrics"], Y, on_device, group=GROUP, ties=task["ties"])
        return {m: ev.per_query[m].tolist() for m in task["metrics"]}
    if kind == "refuse":
        try:
            on_device = cuda.to_device(np.array(task["scores"], task["dtype"]))
            return rw.gradients(task["name"], Y, on_device, group=GROUP)
        except rw.InputError as error:
            return str(error)
    tasks._SHARED_BYTES = 0 if kind == "global" else 47 * 1024
    sorting.COUNTED = 1 if kind == "global" else 2048
    return gradients(
        task["name"], task.get("scores", SCORES.tolist()), task.get("dtype", "float32")
    )


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(main(json.loads(line))), flush=True)
