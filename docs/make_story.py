"""Draw docs/pictures/ranking.svg, the picture of docs/explanation/learning-to-rank.md: python docs/make_story.py."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
from matplotlib import pyplot as plt

LABELS = np.array([3, 0, 2, 0, 1, 0])
SCORES = np.array([2.6, 2.1, 1.6, 0.9, 0.5, 0.2])
BLUE, GREY = "#2c6fbb", "#b8c0c8"


def main() -> None:
    """Write the picture."""
    plt.rcParams.update({"svg.hashsalt": "rankwood", "font.size": 10, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "font.family": "sans-serif"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    ranks = np.arange(1, LABELS.size + 1)
    colours = [BLUE if label else GREY for label in LABELS]
    left.barh(ranks, SCORES, color=colours)
    for rank, score, label in zip(ranks, SCORES, LABELS, strict=True):
        left.text(score + 0.05, rank, f"label {label}", va="center")
    left.set(title="Documents of a query, by score", xlabel="score", ylabel="rank", xlim=(0, 3.4))
    left.set_yticks(ranks)
    left.invert_yaxis()
    discount = 1 / np.log2(1 + ranks)
    right.plot(discount, ranks, "o-", color=GREY, label="discount of the rank")
    right.barh(
        ranks, (2.0**LABELS - 1) * discount / 7, color=BLUE, height=0.5, label="gain × discount"
    )
    right.set(title="What each adds to DCG", xlabel="share of a label 3 at rank 1", xlim=(0, 1.05))
    right.legend(frameon=False, loc="lower right")
    path = Path(__file__).parent / "pictures" / "ranking.svg"
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
