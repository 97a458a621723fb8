"""Where a metric is won and lost: by label, by the length of the list, by the number of relevant documents."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwood import stats
from rankwood.metrics.registry import metric
from rankwood.report.page.documents import Documents
from rankwood.report.page.outcome import LEVEL, PageOutcome, Pair

_MOST_LABELS = 8
_BINS = 6
_FEWEST = 5  # queries of a bin


class LabelRow(NamedTuple):
    """Documents with one label: what they add to the mean NDCG@k, and their mean rank, by model."""

    label: str
    documents: int
    parts: list[float]
    ideal: float
    mean_ranks: list[float]


class ByLabel(NamedTuple):
    """The mean NDCG@k of all models, as a sum over labels; models without scores are omitted."""

    k: int
    models: list[int]
    rows: list[LabelRow]


class Bin(NamedTuple):
    """Queries of one kind: means by model, and differences by pair with their intervals."""

    label: str
    queries: int
    means: list[float]
    differences: list[tuple[float, float, float]]  # difference, low, high


def by_label(documents: Documents, outcome: PageOutcome) -> ByLabel:
    """Split the NDCG@k of each model by the labels that it comes from; k is that of the first metric, else 10."""
    k = _cutoff(outcome.metrics[0])
    known = [i for i, s in enumerate(documents.scores) if not np.isnan(s).all()]
    parts = documents.ndcg_parts(k)
    n_queries = documents.groups.ids.size
    rows = []
    for label, chosen in _kinds(documents.label, _MOST_LABELS):
        totals = parts[:, chosen].sum(axis=1) / n_queries
        ranks = [documents.ranks[i, chosen] for i in known]
        means = [float(r[r > 0].mean()) if (r > 0).any() else np.nan for r in ranks]
        shown = [float(totals[i]) for i in known]
        rows.append(LabelRow(label, int(chosen.sum()), shown, float(totals[-1]), means))
    return ByLabel(k, known, rows)


def by_query_kind(kind: np.ndarray, outcome: PageOutcome) -> list[Bin]:
    """Split queries by a whole number of each, such as the length of its list, into a few bins."""
    bins = []
    for label, chosen in _merged(kind, _kinds(kind, _BINS)):
        means = [_mean(outcome.values[i, 0, chosen]) for i in range(len(outcome.models))]
        differences = [_difference(pair, chosen) for pair in outcome.pairs]
        bins.append(Bin(label, int(chosen.sum()), means, differences))
    return bins


def _difference(pair: Pair, chosen: np.ndarray) -> tuple[float, float, float]:
    gain = pair.gain[chosen]
    gain = gain[~np.isnan(gain)]
    return (_mean(gain), *stats.t_interval(gain, LEVEL))


def _mean(values: np.ndarray) -> float:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


def _cutoff(name: str) -> int:
    """Return the cutoff of a metric, 10 if it has none or isn't known."""
    try:
        part: Any = metric(name)
    except ValueError:
        return 10
    k = getattr(part, "k", None)
    return k if isinstance(k, int) else 10


def _kinds(values: np.ndarray, most: int) -> list[tuple[str, np.ndarray]]:
    """Return names and masks of distinct values, or of about equally full ranges if there are many values."""
    distinct = np.unique(values)
    if distinct.size <= most:
        return [(f"{x:g}", values == x) for x in distinct]
    inner = np.quantile(values, np.linspace(0, 1, most + 1)[1:-1], method="lower")
    edges = np.unique(np.append(inner, distinct[-1]))
    masks = []
    low = -np.inf
    for high in edges:
        masks.append((values > low) & (values <= high))
        low = high
    return [(_range(values[mask]), mask) for mask in masks if mask.any()]


def _merged(
    values: np.ndarray, kinds: list[tuple[str, np.ndarray]]
) -> list[tuple[str, np.ndarray]]:
    """Join small kinds with a neighbour, as the mean of a few queries says little."""
    masks = [mask for _, mask in kinds]
    least = max(_FEWEST, values.size // 25)
    while len(masks) > 1 and min(map(np.count_nonzero, masks)) < least:
        i = int(np.argmin([mask.sum() for mask in masks]))
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(masks)]
        j = min(beside, key=lambda at: int(masks[at].sum()))
        masks[min(i, j) : max(i, j) + 1] = [masks[i] | masks[j]]
    return [(_range(values[mask]), mask) for mask in masks]


def _range(values: Sequence[float] | np.ndarray) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
