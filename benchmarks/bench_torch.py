"""RankingLoss on the CPU against LambdaRank as PyTorch code usually has it: padded tensors of n × n pairs.

Forward and backward pass, float32, 2 threads. The torch code gets what helps it, outside of the time: padded tensors,
ideal DCGs, queries sorted by length so that little is padded, and the best of several batch sizes. Ours gets flat
scores and labels, and its time has all that a batch of new labels takes.
"""

from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks._timing import interleave, spread
from rankwood.torch import RankingLoss

THREADS = 2
BAR = 20.0
BATCHES = (8, 32, 128, 512)
NAME = "lambdarank-ndcg(norm=False)"


def queries(n_queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, scores and sizes of lists of 60 to 180 documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(60, 181, n_queries)
    y = rng.choice(5, sizes.sum(), p=[0.5, 0.3, 0.15, 0.03, 0.02]).astype(np.float32)
    return y, (0.5 * y + rng.normal(size=y.size)).astype(np.float32), sizes


def padded_loss(scores: Any, gain: Any, label: Any, mask: Any) -> Any:
    """LambdaRank for NDCG over all pairs of padded lists; gains are divided by the ideal DCG already."""
    with torch.no_grad():
        key = scores.masked_fill(~mask, -torch.inf)
        rank = key.argsort(dim=1, descending=True).argsort(dim=1)
        discount = 1 / torch.log2(rank + 2.0)
        weight = (gain[:, :, None] - gain[:, None, :]).abs()
        weight *= (discount[:, :, None] - discount[:, None, :]).abs()
        # Padding has the label of NaN, which is above and below nothing.
        weight *= label[:, :, None] > label[:, None, :]
    difference = scores[:, :, None] - scores[:, None, :]
    return (weight * torch.nn.functional.softplus(-difference)).sum()


def padded_batches(
    y: np.ndarray, scores: np.ndarray, sizes: np.ndarray, size: int
) -> list[tuple[Any, ...]]:
    """Return scores, gains, labels and masks of batches of lists of similar length."""
    start, order = np.cumsum(sizes) - sizes, np.argsort(sizes, kind="stable")
    made = []
    for first in range(0, sizes.size, size):
        chosen = order[first : first + size]
        shape = chosen.size, int(sizes[chosen].max())
        score, gain = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        label = np.full(shape, np.nan, np.float32)
        for i, q in enumerate(chosen):
            rows = slice(start[q], start[q] + sizes[q])
            score[i, : sizes[q]], label[i, : sizes[q]] = scores[rows], y[rows]
            gains = 2.0 ** y[rows] - 1
            ideal = np.sort(gains)[::-1] @ (1 / np.log2(np.arange(2.0, sizes[q] + 2)))
            gain[i, : sizes[q]] = gains / max(ideal, 1e-9)
        tensors = [torch.from_numpy(x) for x in (score, gain, label)]
        made.append((*tensors, torch.isfinite(tensors[2])))
    return made


def train_padded(batches: list[tuple[Any, ...]]) -> float:
    total = 0.0
    for score, gain, label, mask in batches:
        leaf = score.detach().requires_grad_()
        loss = padded_loss(leaf, gain, label, mask)
        loss.backward()
        total += float(loss.detach())
    return total


def train_ours(loss: RankingLoss, scores: Any, labels: Any, lengths: Any) -> float:
    leaf = scores.detach().requires_grad_()
    value = loss(leaf, labels, lengths=lengths)
    value.backward()
    return float(value.detach())


def run(rounds: int = 5, n_queries: int = 6000) -> list[dict[str, Any]]:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    y, scores, sizes = queries(n_queries)
    ours = partial(
        train_ours,
        RankingLoss(NAME, n_jobs=THREADS),
        torch.from_numpy(scores),
        torch.from_numpy(y),
        torch.from_numpy(sizes),
    )
    contenders = {"ours": ours}
    for size in BATCHES:
        contenders[f"torch, batches of {size}"] = partial(
            train_padded, padded_batches(y, scores, sizes, size)
        )
    values = [f() for f in contenders.values()]
    if max(abs(x / values[0] - 1) for x in values) > 1e-4:
        raise AssertionError(f"the losses differ: {values}")
    seconds = interleave(contenders, rounds)
    torch.set_num_threads(before)
    own = min(seconds.pop("ours"))
    best = min(seconds, key=lambda name: min(seconds[name]))
    ratio = min(seconds[best]) / own
    return [
        {
            "what": f"RankingLoss {NAME}, {n_queries:,} queries of 60 to 180, forward and backward",
            "against": f"PyTorch, padded n × n, {best.split(', ')[1]}",
            "ours": f"{1e3 * own:.0f} ms",
            "other": f"{1e3 * min(seconds[best]):.0f} ms",
            "ratio": ratio,
            "bar": f"≥ {BAR:.0f}×",
            "met": ratio >= BAR,
            "spread": "; ".join(f"{n} {spread(s)}" for n, s in seconds.items()),
        }
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
