"""Validation data: one set or several by name, with the features of the training data."""

from copy import copy
from typing import Any, NamedTuple, cast

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.concatenation import join_matrices, join_unlisted, join_weights
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.stream import streamed_data
from rankwood.data.tables.categories import recoded_data
from rankwood.fit.arguments import named_sets
from rankwood.fit.result import VALID


class ValidationSets(NamedTuple):
    """Validation data by name; the first set decides when training stops.

    Attributes
    ----------
    by_name : dict
        The sets, in the caller's order.
    joined : Source
        All of them, one after the other, for learners: they score them at once.
    """

    by_name: dict[str, Source]
    joined: Source

    @classmethod
    def single(cls, data: Source) -> "ValidationSets":
        """Return the only set, which needs no name."""
        return cls({VALID: data}, data)

    @classmethod
    def of(cls, sets: dict[str, Source]) -> "ValidationSets":
        """Return several sets."""
        return cls(sets, joined_sets(list(sets.values())))

    @property
    def first(self) -> Source:
        """The set that decides."""
        return next(iter(self.by_name.values()))

    def scores_by_name(self, scores: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of the joined data by set."""
        ends = np.cumsum([len(data) for data in self.by_name.values()])[:-1]
        return dict(zip(self.by_name, np.split(scores, ends), strict=True))

    def fingerprints(self) -> list[str]:
        """Return a digest of each set, to recognise it by."""
        return [data.fingerprint() for data in self.by_name.values()]


def validation_data(valid: Any, train: Source, name: str = VALID) -> Source:
    """Return one set of validation data with the features of the training data."""
    where = "the validation data" if name == VALID else f"the validation data {name!r}"
    if isinstance(valid, (tuple, list)):
        valid = _from_arrays(valid, name, where)
    if not isinstance(valid, Source):
        raise InputError(
            f"{name if name == VALID else where} must be a RankingData or (X, y, qid), got {type(valid).__name__}."
        )
    if train.feature_names is not None:
        valid = valid.with_features(train.feature_names)
    if valid.n_features != train.n_features:
        raise InputError(
            f"{where} has {valid.n_features} features, the training data "
            f"{train.n_features}; they must agree."
        )
    if valid.categories == train.categories:
        return valid
    return recoded_data(cast("RankingData", valid), train.categories, "the training data")


def _from_arrays(valid: Any, name: str, where: str) -> RankingData:
    """Return the data of (X, y, qid)."""
    if any(isinstance(part, Source) for part in valid):
        raise InputError(
            f"{name}: several sets need names, as in valid={{'recent': a, 'older': b}}; the first one decides."
        )
    if len(valid) != 3:
        raise InputError(f"{name} must be (X, y, qid), got {len(valid)} values.")
    try:
        return RankingData(valid[0], valid[1], qid=valid[2])
    except InputError as error:
        raise InputError(f"in {where}, {error}") from None


def validation_sets(valid: Any, train: Source) -> ValidationSets | None:
    """Return validation data by name: one set, a dictionary, or a list of pairs (name, set); None if there is none."""
    if valid is None or isinstance(valid, ValidationSets):
        return valid
    pairs = named_sets(valid)
    if pairs is None:
        return ValidationSets.single(validation_data(valid, train))
    if not pairs:
        raise InputError("valid has no set: give at least one, or omit it.")
    sets: dict[str, Source] = {}
    for name, data in pairs:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"valid: the name of a set must be text, got {name!r}.")
        if name in sets:
            raise InputError(f"valid has two sets of the name {name!r}: give them different ones.")
        sets[name] = validation_data(data, train, name)
    return ValidationSets.of(sets)


def joined_sets(sets: list[Source]) -> Source:
    """Return all sets, one after the other; queries are numbered, as sets may share ids."""
    if len(sets) == 1:
        return sets[0]
    if any(data.in_blocks for data in sets):
        return streamed_data.joined(sets)
    in_memory = cast("list[RankingData]", sets)
    out = copy(in_memory[0])
    rows = np.cumsum([0, *map(len, sets)])
    ends = np.cumsum([0, *(data.groups.rows.size for data in sets)])
    out.X = join_matrices(in_memory)
    out.y = np.concatenate([data.y for data in sets])
    out.groups = Groups(
        np.concatenate(
            [[0], *(d.groups.ptr[1:] + end for d, end in zip(sets, ends, strict=False))]
        ),
        np.concatenate([d.groups.rows + row for d, row in zip(sets, rows, strict=False)]),
        np.arange(sum(data.groups.ids.size for data in sets)),
    )
    out.weight = join_weights(in_memory)
    out.unlisted = join_unlisted(in_memory)
    out.sample_weight = out.pairs = None  # evaluation has none
    out.comments = None
    return out
