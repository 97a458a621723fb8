"""Joining data sets: the same features in all, then matrices, query ids, weights and comments."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.data.comments import Comments
from rankwood.data.given_pairs import join_pairs
from rankwood.data.groups import check_ids_differ, join_ids
from rankwood.data.tables.categories import merged_categories, recoded_data
from rankwood.data.unlisted import UnlistedLabels

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData

Parts = Sequence["RankingData"]


def with_same_features(parts: Any) -> list["RankingData"]:
    """Return parts with the same features and categories; raise if that isn't possible."""
    if hasattr(parts, "groups"):
        raise checks.InputError("concat takes a list of data sets, as in concat([a, b]), got one.")
    parts = list(parts)
    if not parts:
        raise checks.InputError("there are no parts: expected at least one RankingData.")
    for i, part in enumerate(parts):
        if not hasattr(part, "groups"):
            raise checks.InputError(f"part {i} must be a RankingData, got {type(part).__name__}.")
    check_ids_differ([part.groups.ids for part in parts])
    return align_categories(align_features(parts))


def concat_arguments(parts: Parts) -> dict[str, Any]:
    """Return the arguments of a `RankingData` that holds all parts, which have the same features."""
    return {
        "X": join_matrices(parts),
        "y": np.concatenate([part.y for part in parts]),
        "qid": join_ids([part.qid for part in parts]),
        "weight": join_weights(parts),
        "sample_weight": join_sample_weights(parts),
        "feature_names": next((p.feature_names for p in parts if p.feature_names), None),
        "comments": join_comments(parts),
        "unlisted": join_unlisted(parts),
        "pairs": join_pairs([len(part) for part in parts], [part.pairs for part in parts]),
    }


def align_features(parts: Parts) -> list["RankingData"]:
    """Return the parts with their features in the order of the first part that has names."""
    first, names = next(
        ((i, part.feature_names) for i, part in enumerate(parts) if part.feature_names), (0, None)
    )
    width = parts[first].n_features
    for i, part in enumerate(parts):
        if part.n_features != width:
            raise checks.InputError(
                f"part {i} has {plural(part.n_features, 'feature')}, but part {first} has {width}: give all "
                "parts the same features (for LETOR files, load_letor(..., n_features=...))."
            )
        if names and part.feature_names and set(part.feature_names) != set(names):
            other = next(name for name in part.feature_names if name not in names)
            raise checks.InputError(
                f"part {i} has a feature {other!r}, but part {first} doesn't: give all parts the same "
                "features."
            )
    return [part if names is None else part.with_features(names) for part in parts]


def align_categories(parts: list["RankingData"]) -> list["RankingData"]:
    """Return the parts with the categories of all parts."""
    names = {name for part in parts for name in part.categories}
    for i, part in enumerate(parts):
        lacking = sorted(names - set(part.categories))
        if lacking:
            raise checks.InputError(
                f"feature {lacking[0]!r} is categorical in another part, but has numbers in part {i}: give all "
                "parts the same features."
            )
    every = merged_categories([part.categories for part in parts])
    return [recoded_data(part, every, "the whole") for part in parts]


def join_matrices(parts: Parts) -> Any:
    """Return the rows of all parts; sparse if a part is, as `scipy.sparse.vstack` does."""
    matrices = [part.X for part in parts]
    if any(sparse.issparse(X) for X in matrices):
        return sparse.vstack(
            [X if sparse.issparse(X) else sparse.csr_array(X) for X in matrices], format="csr"
        )
    return np.concatenate(matrices)


def join_weights(parts: Parts) -> np.ndarray | None:
    """Return the weight of each query: 1 in parts without weights, None if no part has any."""
    if all(part.weight is None for part in parts):
        return None
    weights = (np.ones(p.groups.ids.size) if p.weight is None else p.weight for p in parts)
    return np.concatenate(list(weights))


def join_sample_weights(parts: Parts) -> np.ndarray | None:
    """Return the weight of each row: 1 in parts without them, None if no part has any."""
    if all(part.sample_weight is None for part in parts):
        return None
    weights = (np.ones(len(p)) if p.sample_weight is None else p.sample_weight for p in parts)
    return np.concatenate(list(weights))


def join_comments(parts: Parts) -> Comments | None:
    """Return the comment of each row: empty in parts without comments, None if no part has any."""
    if all(part.comments is None for part in parts):
        return None
    return Comments.of(text for part in parts for text in part.comments or [""] * len(part))


def join_unlisted(parts: Parts) -> UnlistedLabels | None:
    """Return the unlisted labels of each query: none in parts without any, None if no part has any."""
    if all(part.unlisted is None for part in parts):
        return None
    lists: list[np.ndarray] = []
    for part in parts:
        n_queries = part.groups.ids.size
        lists += [np.empty(0)] * n_queries if part.unlisted is None else part.unlisted.lists()
    return UnlistedLabels.from_lists(lists, len(lists))
