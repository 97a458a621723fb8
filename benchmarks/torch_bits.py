"""Compare RankingLoss, compiled, with GradientComputer, bit for bit: `python -m benchmarks.torch_bits`.

The two compile different kernels: one has the loss of each pair in the place of its Hessian. Compiling both for every
name and precision takes most of an hour, so this is not a test; names may be given.
"""

import sys

import numpy as np
import torch

import rankwood as rw
from rankwood.data.groups import group_rows
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.gradients import GradientComputer
from rankwood.torch import RankingLoss


def compare(name: str, real: type) -> tuple[int, float]:
    """Return how many of 8,000 gradients differ, and by how much relative to the largest."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 200, 80)
    y = rng.integers(0, 5, sizes.sum()).astype(float)
    scores = (0.5 * y + rng.normal(size=y.size)).astype(real)
    leaf = torch.from_numpy(scores).requires_grad_()
    RankingLoss(name, seed=3)(leaf, y, lengths=sizes, round=1).backward()
    groups = group_rows(y.size, group=sizes)
    expected, _ = GradientComputer(rw.objective(name), y, groups, dtype=real, seed=3)(scores, 1)
    got = leaf.grad.numpy()
    return int((got != expected).sum()), float(abs(got - expected).max() / abs(expected).max())


def main() -> None:
    names = sys.argv[1:]
    for name, row in () if names else OBJECTIVES.items():
        if name == "ranknet-pairs":  # RankingLoss has no pairs
            continue
        names.append(f"{name}@10" if any(p.name == "k" for p in row.parameters) else name)
    print("| objective | float32: differ, at most | float64: differ, at most |\n|---|---|---|")
    for name in names:
        found = [compare(name, real) for real in (np.float32, np.float64)]
        cells = [f"{count}, {error:.1e}" if count else "none" for count, error in found]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
