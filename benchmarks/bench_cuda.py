"""Gradients on a GPU: 720,000 documents in 6,000 queries; kernel time by CUDA events, call time by the clock.

    python -m benchmarks.bench_cuda
"""

import sys
import time
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.data.labels import labels_and_groups

BARS = {
    "lambdarank-ndcg(norm=False)": 0.4,
    "lambdarank-ndcg@10(norm=False)": 0.15,
    "yetirank(permutations=10)": 1.5,
    "softmax": 0.05,
}


def queries() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, scores and sizes."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(60, 181, 6000)
    n = int(sizes.sum())
    y = rng.choice(5, n, p=[0.5, 0.3, 0.15, 0.03, 0.02]).astype(np.float32)
    return y.astype(float), (0.5 * y + rng.normal(size=n)).astype(np.float32), sizes


def milliseconds(call: Any, times: int = 50) -> tuple[float, float]:
    """Return the time of a call on the GPU and by the clock, the best of several batches."""
    import cupy

    for _ in range(3):
        call()
    cupy.cuda.Device().synchronize()
    events, clock = [], []
    for _ in range(5):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin = time.perf_counter()
        start.record()
        for _ in range(times):
            call()
        end.record()
        end.synchronize()
        clock.append((time.perf_counter() - begin) / times * 1e3)
        events.append(cupy.cuda.get_elapsed_time(start, end) / times)
    return min(events), min(clock)


def graph_milliseconds(call: Any, times: int = 20) -> float:
    """Return the time of a call on the GPU without Python between the calls: they are captured and started at once."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        call()
        stream.synchronize()
        stream.begin_capture()
        for _ in range(times):
            call()
        graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
        best = np.inf
        for _ in range(10):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(stream)
            graph.launch(stream)
            end.record(stream)
            end.synchronize()
            best = min(best, cupy.cuda.get_elapsed_time(start, end) / times)
    return best


def run(names: list[str]) -> None:
    import cupy

    from rankwood.objectives.cuda import DeviceGradients

    y, scores, sizes = queries()
    y, groups = labels_and_groups(y, None, sizes)
    on_device = cupy.asarray(scores)
    out = cupy.empty_like(on_device), cupy.empty_like(on_device)
    for name in names:
        begin = time.perf_counter()
        gpu = DeviceGradients(rw.objective(name), y, groups)
        gpu(on_device)
        cupy.cuda.Device().synchronize()
        first = time.perf_counter() - begin
        try:
            kernel = graph_milliseconds(lambda gpu=gpu: gpu(on_device, out=out))
        except Exception as error:
            print("no graph:", type(error).__name__, str(error)[:200])
            kernel = np.nan
        events, clock = milliseconds(lambda gpu=gpu: gpu(on_device, out=out))
        print(
            f"{name}: kernel {kernel:.4f} ms, events {events:.4f} ms, call {clock:.4f} ms, first call {first:.1f} s, "
            f"bar {BARS.get(name)}",
            flush=True,
        )


if __name__ == "__main__":
    run(sys.argv[1:] or list(BARS))
