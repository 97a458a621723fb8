"""Documents as kernels take them: a dense matrix of the engine's precision, a document after another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import column_names, dense, features, is_frame

if TYPE_CHECKING:
    from rankwood.forest.record import Forest


def documents_for(forest: "Forest", X: Any) -> np.ndarray:
    """Return documents for a forest; raise unless they have as many features as it."""
    names = None if forest.feature_names is None else list(forest.feature_names)
    if isinstance(X, RankingData):
        X = (X.with_features(names) if names and X.feature_names else X).X
    else:
        only = None
        if names and is_frame(X):
            missing = [name for name in names if name not in column_names(X)]
            if missing:
                near = checks.nearest(missing[0], column_names(X))
                raise checks.InputError(f"the table has no column {missing[0]!r}{near}")
            only = names
        X = features(X, (), only).X
    if X.shape[1] != forest.n_features:
        raise checks.InputError(
            f"X has {X.shape[1]} features, but the forest has {forest.n_features}."
        )
    return matrix(dense(X), forest.float32_input)


def matrix(X: np.ndarray, float32: bool) -> np.ndarray:
    """Return a matrix in the precision in which an engine compares, in one piece."""
    real = np.float32 if float32 else np.float64
    if X.dtype == real and X.flags.c_contiguous and X.flags.writeable:
        return X
    with np.errstate(
        over="ignore", under="ignore"
    ):  # too large a number is infinite, as in the engine
        return np.require(X, real, ["C", "W"])
