"""Draw the pictures of docs/explanation: python docs/make_story.py.

docs/pictures/ranking.svg belongs to learning-to-rank.md, docs/pictures/kernel.svg to kernel.md.
"""

from pathlib import Path

import matplotlib
import numpy as np

import rankwood as rw

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

LABELS = np.array([3, 0, 2, 0, 1, 0])
SCORES = np.array([2.6, 2.1, 1.6, 0.9, 0.5, 0.2])
BLUE, GREY = "#2c6fbb", "#b8c0c8"


#: The query of docs/explanation/kernel.md, by rank.
KERNEL_LABELS = np.array([0, 0, 0, 1, 2, 0])
KERNEL_SCORES = np.array([1.2, 0.9, 0.4, 0.3, 0.1, -0.5])
CUTOFF = 3


def main() -> None:
    """Write the pictures."""
    plt.rcParams.update({"svg.hashsalt": "rankwood", "font.size": 10, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "font.family": "sans-serif"})
    write(draw_ranking(), "ranking")
    write(draw_kernel(), "kernel")


def write(figure: Figure, name: str) -> None:
    """Write a picture with no date in it, so that the same version of matplotlib writes the same bytes."""
    path = Path(__file__).parent / "pictures" / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})


def draw_scores(axes: Axes, labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Draw the documents of a query by score, and return their ranks."""
    ranks = np.arange(1, labels.size + 1)
    axes.barh(ranks, scores, color=[BLUE if label else GREY for label in labels])
    for rank, score, label in zip(ranks, scores, labels, strict=True):
        axes.text(max(score, 0) + 0.05, rank, f"label {label}", va="center")
    axes.set_yticks(ranks)
    axes.invert_yaxis()
    return ranks


def draw_ranking() -> Figure:
    """Return the picture of scores, gains and discounts."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    ranks = draw_scores(left, LABELS, SCORES)
    left.set(title="Documents of a query, by score", xlabel="score", ylabel="rank", xlim=(0, 3.4))
    discount = 1 / np.log2(1 + ranks)
    right.plot(discount, ranks, "o-", color=GREY, label="discount of the rank")
    right.barh(
        ranks, (2.0**LABELS - 1) * discount / 7, color=BLUE, height=0.5, label="gain × discount"
    )
    right.set(title="What each adds to DCG", xlabel="share of a label 3 at rank 1", xlim=(0, 1.05))
    right.legend(frameon=False, loc="lower right")
    return figure


def draw_kernel() -> Figure:
    """Return the picture of one query in the kernel: its ranking, the weights of its pairs, its gradients."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
    ranks = draw_scores(left, KERNEL_LABELS, KERNEL_SCORES)
    left.set(title="1. Rank", xlabel="score", ylabel="rank", xlim=(-0.7, 1.9))
    gain, discount = 2.0**KERNEL_LABELS - 1, 1 / np.log2(1 + ranks)
    ideal = (np.sort(gain)[::-1] * discount)[:CUTOFF].sum()
    weights = np.abs(np.subtract.outer(gain, gain) * np.subtract.outer(discount, discount)) / ideal
    visited = (ranks[:, None] <= CUTOFF) & (ranks[:, None] < ranks)
    middle.imshow(np.where(visited, weights, np.nan)[:CUTOFF], cmap="Blues", vmin=0, vmax=1)
    for i, j in zip(*np.nonzero(visited), strict=True):
        middle.text(j, i, f"{weights[i, j]:.2f}", ha="center", va="center", fontsize=8)
    middle.set_xticks(ranks - 1, ranks)
    middle.set_yticks(ranks[:CUTOFF] - 1, ranks[:CUTOFF])
    middle.set(title="2 to 4. Weights of the pairs", xlabel="rank of the partner")
    middle.set_ylabel("rank of the anchor")
    grad = rw.gradients(f"lambdarank-ndcg@{CUTOFF}(norm=False)", KERNEL_LABELS, KERNEL_SCORES)[0]
    right.barh(ranks, -grad, color=[BLUE if label else GREY for label in KERNEL_LABELS])
    right.axvline(0, color="black", linewidth=0.8)
    right.set(title="5. Push of each document", xlabel="minus the gradient", ylabel="rank")
    right.set_yticks(ranks)
    right.invert_yaxis()
    return figure


if __name__ == "__main__":
    main()
