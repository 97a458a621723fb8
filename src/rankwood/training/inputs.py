"""The data arguments of estimators, `fit(X, y, qid=..., valid=...)`, as RankingData."""

from collections.abc import Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from rankwood._core.checks import InputError
from rankwood.data.concatenation import join_matrices, join_unlisted, join_weights
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.data.recoding import recoded_data
from rankwood.data.stream import streamed_data
from rankwood.data.stream.streamed_data import StreamedData

#: The name of validation data that was given without one.
VALID = "valid"


class ValidationSets(NamedTuple):
    """Validation data by name; the first set decides when training stops.

    Attributes
    ----------
    by_name : dict
        The sets, in the caller's order.
    joined : RankingData
        All of them, one after the other, for engines: they score them at once.
    """

    by_name: dict[str, RankingData]
    joined: RankingData

    @classmethod
    def single(cls, data: RankingData) -> "ValidationSets":
        """Return the only set, which needs no name."""
        return cls({VALID: data}, data)

    @property
    def first(self) -> RankingData:
        """The set that decides."""
        return next(iter(self.by_name.values()))

    def scores_by_name(self, scores: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of the joined data by set."""
        ends = np.cumsum([len(data) for data in self.by_name.values()])[:-1]
        return dict(zip(self.by_name, np.split(scores, ends), strict=True))


def training_data(
    X: Any, y: Any, qid: Any, group: Any, weight: Any, caller: str, sample_weight: Any = None
) -> RankingData:
    """Return X if it is a RankingData, else one made of the arguments of `caller`."""
    if isinstance(X, RankingData):
        if not all(v is None for v in (y, qid, group, weight, sample_weight)):
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
    return RankingData(X, y, qid=qid, group=group, weight=weight, sample_weight=sample_weight)


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


def validation_data(valid: Any, train: RankingData, name: str = VALID) -> RankingData:
    """Return one set of validation data with the features of the training data."""
    where = "the validation data" if name == VALID else f"the validation data {name!r}"
    if isinstance(valid, (tuple, list)):
        if any(isinstance(one, RankingData) for one in valid):
            raise InputError(
                f"{name}: several sets need names, as in valid={{'recent': a, 'older': b}}; the first one decides."
            )
        if len(valid) != 3:
            raise InputError(f"{name} must be (X, y, qid), got {len(valid)} values.")
        try:
            valid = RankingData(valid[0], valid[1], qid=valid[2])
        except InputError as error:
            raise InputError(f"in {where}, {error}") from None
    if not isinstance(valid, RankingData):
        raise InputError(
            f"{name} must be a RankingData or (X, y, qid), got {type(valid).__name__}."
        )
    if train.feature_names is not None:
        valid = valid.with_features(train.feature_names)
    if valid.n_features != train.n_features:
        raise InputError(
            f"{where} has {valid.n_features} features, the training data "
            f"{train.n_features}; they must agree."
        )
    return recoded_data(valid, train.categories, "the training data")


def validation_sets(valid: Any, train: RankingData) -> ValidationSets | None:
    """Return validation data by name: one set, a dictionary, or a list of pairs (name, set); None if there is none."""
    if valid is None or isinstance(valid, ValidationSets):
        return valid
    pairs = named_sets(valid)
    if pairs is None:
        return ValidationSets.single(validation_data(valid, train))
    if not pairs:
        raise InputError("valid has no set: give at least one, or leave it out.")
    found: dict[str, RankingData] = {}
    for name, data in pairs:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"valid: the name of a set must be text, got {name!r}.")
        if name in found:
            raise InputError(f"valid has two sets of the name {name!r}: give them different ones.")
        found[name] = validation_data(data, train, name)
    return ValidationSets(found, joined_sets(list(found.values())))


def named_sets(valid: Any) -> list[tuple[Any, Any]] | None:
    """Return the pairs (name, set) that were given; None if there is one set without a name."""
    if isinstance(valid, Mapping):
        return list(valid.items())
    if isinstance(valid, (tuple, list)) and all(
        isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in valid
    ):
        return [(name, data) for name, data in valid]
    return None


def joined_sets(sets: list[RankingData]) -> RankingData:
    """Return all sets, one after the other; queries are numbered, as sets may share ids."""
    if len(sets) == 1:
        return sets[0]
    if any(isinstance(data, StreamedData) for data in sets):
        return streamed_data.joined(sets)
    out = copy(sets[0])
    rows = np.cumsum([0, *map(len, sets)])
    ends = np.cumsum([0, *(data.groups.rows.size for data in sets)])
    out.X = join_matrices(sets)
    out.y = np.concatenate([data.y for data in sets])
    out.groups = Groups(
        np.concatenate(
            [[0], *(d.groups.ptr[1:] + end for d, end in zip(sets, ends, strict=False))]
        ),
        np.concatenate([d.groups.rows + row for d, row in zip(sets, rows, strict=False)]),
        np.arange(sum(data.groups.ids.size for data in sets)),
    )
    out.weight = join_weights(sets)
    out.unlisted = join_unlisted(sets)
    out.sample_weight = None  # evaluation has none
    out.comments = None
    return out
