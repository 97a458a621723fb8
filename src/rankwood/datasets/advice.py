"""Advice on a data set, as sentences, from its statistics."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rankwood._util.text import listed, plural
from rankwood.datasets.part_overlap import Overlap
from rankwood.datasets.statistics import FeatureStatistics, PartStatistics
from rankwood.metrics.single_features import SingleFeatures

if TYPE_CHECKING:
    from rankwood.datasets.description import Description

LEAK = 0.9  # share of the distance from a random to a perfect order from which a feature is called a leak
_FEWEST_QUERIES = 20  # with fewer, one of many features may rank perfectly by chance
_HINT = 0.15  # the same share, from which the order of the rows is mentioned
_FEW_QUERIES = 100
_MANY_EMPTY = 0.05
_RARE = 0.02
_COPIES = 0.001  # share of equal documents in two parts that may occur by chance
_LIGHTGBM_LABELS = 31  # LightGBM's gains end at label 30
_NAMED = 8  # features that a sentence names
# A count, the total it is a share of, the share from which it is reported, and the sentence.
_SHARES = (
    (
        "empty",
        "queries",
        _MANY_EMPTY,
        "No order can be learned from queries without a relevant document ({}), and metrics count them as 0 unless "
        "empty='skip' or empty=1 is given.",
    ),
    (
        "uniform",
        "queries",
        _MANY_EMPTY,
        "No order can be learned from queries whose documents all have the same label above 0 ({}), and every model "
        "is perfect on them.",
    ),
    (
        "single",
        "queries",
        _MANY_EMPTY,
        "No order can be learned from queries with a single document ({}), and all models are equally good on them.",
    ),
    (
        "contradictory",
        "documents",
        _RARE,
        "Some documents ({}) have the same features as another document of their query but a different label: no "
        "model can tell them apart.",
    ),
)


def advice_for(description: "Description") -> list[str]:
    """Return sentences on what calls for attention, the most serious first."""
    documents = {part.name: part.documents for part in description.parts}
    overlaps = (_overlap(pair, documents[pair.second]) for pair in description.overlaps)
    advice = [
        *_single_features(description.single, description.features),
        *_row_order(description.single),
        *chain.from_iterable(overlaps),
        *_absent(description.gaps),
        *_parts(description.parts),
        *_labels(description.parts),
        *_features(description.features),
    ]
    return advice or ["Nothing calls for attention."]


def _single_features(single: SingleFeatures, features: FeatureStatistics) -> Iterator[str]:
    if not single.queries:
        yield "No query has documents with different labels, so there is no order to learn."
        return
    if single.queries < _FEWEST_QUERIES:
        yield (
            f"Only {plural(single.queries, 'query')} {_have(single.queries)} documents with different labels: too few "
            "to tell whether a feature or the order of the rows gives labels away."
        )
        return
    for j in np.flatnonzero(single.above_random(single.best) >= LEAK):
        direction = "small values first" if single.downward[j] else "large values first"
        yield (
            f"Leak: feature {features.names[j]} alone ranks nearly perfectly ({single.metric} "
            f"{single.best[j]:.4f}, {direction}, against {single.random:.4f} at random): make sure that it is "
            "known before the labels are, or omit it."
        )


def _row_order(single: SingleFeatures) -> Iterator[str]:
    if single.queries < _FEWEST_QUERIES:
        return
    share = single.above_random(single.rows)
    direction = ", read from the end," if single.rows_reversed else ""
    value = f"({single.metric} {single.rows:.4f}, {single.random:.4f} at random)"
    if share >= LEAK:
        yield (
            f"Leak: rows of a query{direction} are sorted by label {value}: shuffle them, or count ties as the "
            "worst case; otherwise a constant score looks like a good model."
        )
    elif share >= _HINT:
        yield (
            f"The order of the rows{direction} reveals something about labels {value}: count ties as the worst "
            "case, which is the default, and don't let a model see row numbers."
        )


def _overlap(pair: Overlap, documents: int) -> Iterator[str]:
    first, second = pair.first, pair.second
    if pair.lists:
        yield (
            f"Leak: {plural(pair.lists, 'query')} of {second} {_have(pair.lists)} the very documents of a query "
            f"of {first}: remove them from one of the parts."
        )
    if pair.ids > pair.lists:
        yield (
            f"{plural(pair.ids, 'query id')} of {second} {_occur(pair.ids)} in {first}, too: if they stand for "
            "the same queries, remove them from one of the parts; if each file is numbered on its own, this is "
            "harmless."
        )
    if pair.documents > _COPIES * documents and not pair.lists:
        yield (
            f"{plural(pair.documents, 'document')} of {second} {_have(pair.documents)} exactly the features of a "
            f"document of {first}: if these are copies, results on {second} look better than they are."
        )


def _absent(gaps: bool) -> Iterator[str]:
    if gaps:
        yield (
            "Lines write zeros but omit other features, so what is omitted may be missing rather than 0: "
            "if so, read the files with absent=nan (--absent nan)."
        )


def _parts(parts: tuple[PartStatistics, ...]) -> Iterator[str]:
    few = [f"{p.name} ({p.queries})" for p in parts if p.queries < _FEW_QUERIES]
    if few:
        yield (
            f"There are only a few queries in {listed(few)}: test differences between models for significance, and use "
            "folds to test on more queries."
        )
    for field, of, limit, sentence in _SHARES:
        shares = {part.name: getattr(part, field) / getattr(part, of) for part in parts}
        named = [f"{share:.1%} of {name}" for name, share in shares.items() if share > limit]
        if named:
            yield sentence.format(listed(named))
    scattered = [part.name for part in parts if part.scattered]
    if scattered:
        yield (
            f"Documents of some queries of {listed(scattered)} are not adjacent in the file: Rankwood can read "
            "this, but many programs can't."
        )


def _labels(parts: Iterable[PartStatistics]) -> Iterator[str]:
    labels = {label for part in parts for label in part.labels}
    if any(label != int(label) for label in labels):
        yield "Labels are not integers: our metrics and objectives accept them, LightGBM's own objectives don't."
    elif max(labels) >= _LIGHTGBM_LABELS:
        yield (
            f"Labels go up to {max(labels):g}: with gains of 2^label - 1 the largest labels alone would decide, so "
            "take a linear gain or fewer grades."
        )


def _features(features: FeatureStatistics) -> Iterator[str]:
    for mask, finding in (
        (features.absent, "missing in every document"),
        (features.constant, "the same in every document"),
    ):
        if mask.any():
            verb, pronoun = ("is", "it") if mask.sum() == 1 else ("are", "they")
            yield f"{_named(mask, features)} {verb} {finding}: {pronoun} can be omitted."
    twins = features.duplicate_of >= 0
    if twins.any():
        j = int(np.flatnonzero(twins)[0])
        first = features.names[features.duplicate_of[j]]
        repeat = "repeats an earlier one" if twins.sum() == 1 else "repeat earlier ones"
        yield f"{_named(twins, features)} {repeat} ({features.names[j]} is {first})."
    if features.per_query.any():
        verb = "has" if features.per_query.sum() == 1 else "have"
        yield (
            f"{_named(features.per_query, features)} {verb} one value in each query: useful only in combination with "
            "other features."
        )


def _named(mask: np.ndarray, features: FeatureStatistics) -> str:
    """Return some features as the subject of a sentence."""
    names = [features.names[j] for j in np.flatnonzero(mask)]
    if len(names) == 1:
        return f"Feature {names[0]}"
    if len(names) <= _NAMED:
        return f"Features {listed(names)}"
    return f"{len(names)} features ({', '.join(names[:_NAMED])}, ...)"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _occur(count: int) -> str:
    return "occurs" if count == 1 else "occur"
