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
        begin, free = time.perf_counter(), cupy.cuda.runtime.memGetInfo()[0]
        gpu = DeviceGradients(rw.objective(name), y, groups)
        gpu(on_device, out=out)
        cupy.cuda.Device().synchronize()
        first = time.perf_counter() - begin
        memory = (free - cupy.cuda.runtime.memGetInfo()[0]) / 1e6 + 8e-6 * y.size  # results, too
        try:
            kernel = graph_milliseconds(lambda gpu=gpu: gpu(on_device, out=out))
        except Exception as error:
            print("no graph:", type(error).__name__, str(error)[:200])
            kernel = np.nan
        events, clock = milliseconds(lambda gpu=gpu: gpu(on_device, out=out))
        print(
            f"{name}: kernel {kernel:.4f} ms, events {events:.4f} ms, call {clock:.4f} ms, first call {first:.1f} s, "
            f"{memory:.0f} MB, bar {BARS.get(name)}",
            flush=True,
        )


def torch_loss(scores: Any, labels: Any, ideal: Any) -> Any:
    """LambdaRank in PyTorch as it is usually written: padded lists, all pairs as n x n tensors."""
    import torch

    real = labels >= 0
    rank = scores.masked_fill(~real, -1e30).argsort(1, descending=True).argsort(1)
    with torch.no_grad():
        gain = (2.0**labels - 1).masked_fill(~real, 0) / ideal[:, None]
        discount = 1 / torch.log2(rank + 2.0)
        weight = (gain[:, :, None] - gain[:, None, :]).abs()
        weight = weight * (discount[:, :, None] - discount[:, None, :]).abs()
        weight = weight * (labels[:, :, None] > labels[:, None, :])  # padding has the label -1
        weight = weight * real[:, None, :]
    difference = scores[:, :, None] - scores[:, None, :]
    return (torch.nn.functional.softplus(-difference) * weight).sum()


def padded(y: np.ndarray, scores: np.ndarray, sizes: np.ndarray) -> Any:
    """Return scores, labels and ideals of padded lists, on the GPU."""
    import torch

    shape, start = (sizes.size, int(sizes.max())), np.r_[0, np.cumsum(sizes)]
    inside = np.arange(shape[1])[None, :] < sizes[:, None]
    labels, values = np.full(shape, -1.0, np.float32), np.zeros(shape, np.float32)
    labels[inside], values[inside] = y, scores
    gain = -np.sort(-np.where(inside, 2.0**labels - 1, 0.0), axis=1)
    ideal = (gain / np.log2(np.arange(shape[1]) + 2.0)).sum(1).astype(np.float32)
    ideal[ideal == 0] = 1.0
    assert start[-1] == y.size
    return tuple(torch.from_numpy(x).cuda() for x in (values, labels, ideal))


def run_torch(batches: tuple[int, ...] = (1500, 6000), ready: Any = None) -> None:
    """Time PyTorch, forward and backward, at several batch sizes; `ready` is called when all is compiled."""
    import torch

    y, scores, sizes = queries()
    data = padded(y, scores, sizes)

    def step(loss: Any, batch: int) -> list[Any]:
        grads = []
        for i in range(0, sizes.size, batch):
            s, labels, ideal = (x[i : i + batch] for x in data)
            s = s.detach().requires_grad_(True)
            loss(s, labels, ideal).backward()
            grads.append(s.grad)
        return grads

    kinds = {"eager": torch_loss, "compiled": torch.compile(torch_loss, dynamic=False)}
    for loss in kinds.values():
        for batch in batches:
            step(loss, batch)
    torch.cuda.synchronize()
    if ready is not None:
        ready()
    for name, loss in kinds.items():
        for batch in batches:
            base = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            times = []
            for _ in range(10):
                begin = time.perf_counter()
                step(loss, batch)
                torch.cuda.synchronize()
                times.append((time.perf_counter() - begin) * 1e3)
            peak = (torch.cuda.max_memory_allocated() - base) / 1e6
            print(f"torch {name}, batch {batch}: {min(times):.2f} ms, {peak:.0f} MB", flush=True)


def run_evaluate() -> None:
    """Time metrics of scores on the GPU, and compare them with the CPU."""
    import cupy

    y, scores, sizes = queries()
    metrics = ["ndcg@10", "dcg@10", "p@10", "recall@10", "mrr", "map"]
    wanted = rw.evaluate(metrics, y, scores.astype(float), group=sizes)
    got = rw.evaluate(metrics, y, cupy.asarray(scores), group=sizes)
    for m in metrics:
        off = np.abs(got.per_query[m] - wanted.per_query[m]).max()
        print(f"{m}: largest difference {off:.1e}", end="; ")
    begin = time.perf_counter()
    rw.evaluate(metrics, y, cupy.asarray(scores), group=sizes)
    print(f"a call takes {(time.perf_counter() - begin) * 1e3:.1f} ms")


if __name__ == "__main__":
    run(sys.argv[1:] or list(BARS))
    if not sys.argv[1:]:
        run_evaluate()
        run_torch()
