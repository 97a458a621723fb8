"""What an objective says of itself: what it has gradients of, whether it has pairs, and how it reads labels."""

from typing import Any, Literal

import numpy as np

from rankwood._util import checks

Unit = Literal["documents", "pairs"]


def unit_of(objective: Any) -> Unit:
    """Return what an objective has gradients of; objectives of pairs say so by a class attribute `unit`."""
    return getattr(objective, "unit", "documents")


def base_of(objective: Any) -> Any:
    """Return the objective of documents: itself, or the one that was lifted to pairs."""
    return objective.base if unit_of(objective) == "pairs" else objective


def has_pair_set(objective: Any) -> bool:
    """Tell whether an objective, or the one that it lifts to pairs, sums over a pair set, as `Lambda` does."""
    return hasattr(base_of(objective), "pairs")


def reads_pairs(objective: Any) -> bool:
    """Tell whether an objective, or the one that it lifts to pairs, is a sum over the pairs that come with the data."""
    return getattr(base_of(objective), "needs_pairs", False)


def refuse_given_pairs(objective: Any, who: str) -> None:
    """Raise if an objective needs the pairs of a RankingData, and `who` doesn't know them."""
    if reads_pairs(objective):
        raise checks.InputError(
            f"{objective!r} is a sum over RankingData.pairs, which {who} doesn't know: train it with Ranker."
        )


def read_labels(objective: Any, y: np.ndarray) -> np.ndarray:
    """Return the labels as an objective of documents reads them: as its part `labels` says, or as they are."""
    return objective.labels.read(y) if hasattr(objective, "labels") else y
