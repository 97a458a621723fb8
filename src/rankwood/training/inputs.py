"""The data arguments of estimators, `fit(X, y, qid=..., valid=...)`, as RankingData."""

from typing import Any

from rankwood._core.checks import InputError
from rankwood.data.ranking_data import RankingData


def training_data(X: Any, y: Any, qid: Any, group: Any, weight: Any, caller: str) -> RankingData:
    """Return X if it is a RankingData, else one made of the arguments of `caller`."""
    if isinstance(X, RankingData):
        if not all(v is None for v in (y, qid, group, weight)):
            raise InputError("a RankingData knows its labels and queries: give it alone.")
        return X
    if y is None:
        raise InputError(
            f"{caller} needs labels: it requires y to be passed, but the target y is None. Call {caller}(X, y, "
            "qid=...), or give a RankingData."
        )
    if qid is None and group is None:
        raise InputError(
            f"{caller} needs to know the queries: give qid= (an id per row) or group= (sizes); inside "
            "scikit-learn's model selection, switch on metadata routing to hand qid on."
        )
    return RankingData(X, y, qid=qid, group=group, weight=weight)


def check_trainable(data: RankingData) -> None:
    """Raise if data has no features, or a single document."""
    shape = (len(data), data.n_features)
    if data.n_features == 0:
        raise InputError(
            f"fit needs at least one feature, and X has no columns: 0 feature(s) (shape={shape}) while a minimum "
            "of 1 is required."
        )
    if len(data) == 1:
        raise InputError("fit needs at least two documents, and X has one (n_samples=1).")


def validation_data(valid: Any, train: RankingData) -> RankingData:
    """Return validation data with the features of the training data."""
    if isinstance(valid, (tuple, list)):
        if len(valid) != 3:
            raise InputError(f"valid must be (X, y, qid), got {len(valid)} values.")
        try:
            valid = RankingData(valid[0], valid[1], qid=valid[2])
        except InputError as error:
            raise InputError(f"in the validation data, {error}") from None
    if not isinstance(valid, RankingData):
        raise InputError(f"valid must be a RankingData or (X, y, qid), got {type(valid).__name__}.")
    if train.feature_names is not None:
        valid = valid.with_features(train.feature_names)
    if valid.n_features != train.n_features:
        raise InputError(
            f"the validation data has {valid.n_features} features, the training data "
            f"{train.n_features}; they must agree."
        )
    return valid
