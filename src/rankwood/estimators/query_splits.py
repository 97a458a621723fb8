"""Inside scikit-learn's model selection: an error if a query is both in the training and in the test part.

`cross_val_score`, `cross_validate`, `GridSearchCV` and their relatives split one array of query ids, so an id in both
parts is one query, and its rows were torn apart. Elsewhere equal ids mean nothing: files number their queries anew.
"""

import sys
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.source import Source

#: The function of scikit-learn that fits and scores an estimator on one split, and its module.
_SPLIT = ("sklearn.model_selection._validation", "_fit_and_score")


class TrainingPart(NamedTuple):
    """The query ids of the training part of a split, and a digest of its rows."""

    ids: np.ndarray
    digest: str


def remember(estimator: Any, train: Source) -> None:
    """Keep what `check_whole_queries` needs to know of the training part, inside model selection."""
    if _in_model_selection():
        estimator._training_part = TrainingPart(train.groups.ids, train.fingerprint())
    elif hasattr(estimator, "_training_part"):
        del estimator._training_part


def check_whole_queries(estimator: Any, data: Source) -> None:
    """Raise if data to score has a query that the estimator was trained on; the training part itself is fine."""
    trained: TrainingPart | None = getattr(estimator, "_training_part", None)
    if trained is None or not _in_model_selection():
        return
    ids = data.groups.ids
    in_both = np.isin(ids, trained.ids)
    if (
        not in_both.any() or data.fingerprint() == trained.digest
    ):  # the latter for return_train_score
        return
    raise InputError(
        f"the splitter tore {in_both.sum():,} of the {ids.size:,} queries of the test part apart, query "
        f"{ids[in_both][0]!s} for one: some of their documents are in the training part. Use a splitter that keeps "
        "queries whole, such as GroupKFold, and give it the query ids as groups."
    )


def _in_model_selection() -> bool:
    """Return whether scikit-learn's model selection is among the callers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == _SPLIT:
            return True
        frame = frame.f_back
    return False
