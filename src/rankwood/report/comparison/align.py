"""Evaluations of several models, aligned: the same metrics of the same queries, in the same order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.metrics.evaluate import metric as metric_part
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.verbs import higher_is_better


@dataclass(frozen=True)
class Aligned:
    """Values by model, metric and query; the queries are those of the first model."""

    models: list[str]
    metrics: list[str]
    ids: np.ndarray
    values: np.ndarray
    conventions: dict[str, Any]


def align(
    evaluations: Mapping[str, Evaluation] | Sequence[Evaluation],
    metrics: str | Sequence[str] | None = None,
    fewest: int = 2,
) -> Aligned:
    """Match models query by query, in the order of the first; raise if they can't be compared."""
    named = _named(evaluations, fewest)
    first, *others = named
    names = _metrics(named, metrics)
    for other in others:
        _check_same_rules(first, named[first], other, named[other], names)
    ids = named[first].per_query["qid"]
    values = [_values(first, ids.tolist(), name, named[name], names) for name in named]
    conventions = {}
    for evaluation in reversed(named.values()):
        conventions.update(evaluation.conventions)
    return Aligned(list(named), names, ids, np.array(values), conventions)


def align_one(table: Aligned, name: str, evaluation: Evaluation) -> np.ndarray:
    """Return the values of one more model, by metric and query; its rules may differ from the table's."""
    if name in table.models:
        raise checks.InputError(f"{name!r} is the name of a model already; give it another.")
    _check_evaluation(name, evaluation)
    _check_metrics(name, evaluation, table.metrics)
    return _values(table.models[0], table.ids.tolist(), name, evaluation, table.metrics)


def better_sign(metric: str) -> int:
    """Return 1 if higher values of a metric are better, -1 if lower ones are; unknown metrics count as the former."""
    try:
        part = metric_part(metric)
    except checks.InputError:
        return 1
    return 1 if higher_is_better(part) else -1


def check_name(kind: str, name: Any, known: list[str]) -> str:
    """Return a name; raise if it is not one of the known ones."""
    if str(name) not in known:
        raise checks.InputError(
            f"there is no {kind} {str(name)!r}{checks.nearest(str(name), known)}"
        )
    return str(name)


def _named(evaluations: Any, fewest: int) -> dict[str, Evaluation]:
    """Return evaluations by the name of their model; raise if there are too few."""
    if isinstance(evaluations, (list, tuple)):
        evaluations = {f"model {i}": ev for i, ev in enumerate(evaluations, 1)}
    if not isinstance(evaluations, Mapping):
        raise checks.InputError(
            "evaluations must be a dictionary such as {'a': ev_a, 'b': ev_b}, "
            f"got {type(evaluations).__name__}."
        )
    for name, evaluation in evaluations.items():
        _check_evaluation(str(name), evaluation)
    named = {str(name): evaluation for name, evaluation in evaluations.items()}
    if len(named) < len(evaluations):
        raise checks.InputError("two models have the same name as text; give each its own.")
    if len(named) < fewest:
        least = "two models to compare, or one and references=" if fewest > 1 else "one model"
        raise checks.InputError(f"there must be at least {least}, got {len(named)}.")
    return named


def _metrics(named: dict[str, Evaluation], metrics: str | Sequence[str] | None) -> list[str]:
    """Return the metrics to compare by: the given ones, or all metrics of the first model."""
    first = next(iter(named))
    names = [metrics] if isinstance(metrics, str) else list(metrics or named[first].metrics)
    names = list(dict.fromkeys(str(name) for name in names))
    if not names:
        raise checks.InputError(f"model {first!r} has no metric to compare by.")
    for model, evaluation in named.items():
        _check_metrics(model, evaluation, names)
    return names


def _check_evaluation(model: str, evaluation: Any) -> None:
    if not isinstance(evaluation, Evaluation):
        raise checks.InputError(
            f"model {model!r} must be an Evaluation, as rankwood.evaluate returns it, "
            f"got {type(evaluation).__name__}; with qrels=, runs are evaluated first."
        )


def _check_metrics(model: str, evaluation: Evaluation, names: list[str]) -> None:
    for name in names:
        if name not in evaluation.metrics:
            near = checks.nearest(name, evaluation.metrics).rstrip(".?").replace("known", "there")
            raise checks.InputError(
                f"model {model!r} has no metric {name!r}{near}; evaluate every model by the same "
                "metrics, or choose those that all models have with metrics=."
            )


def _check_same_rules(
    first: str, one: Evaluation, second: str, other: Evaluation, metrics: list[str]
) -> None:
    """Raise if two models were evaluated by different rules; a table read from a file has none to compare."""
    for rule in one.conventions.keys() & other.conventions.keys():
        a, b = one.conventions[rule], other.conventions[rule]
        if a != b:
            raise checks.InputError(
                f"{first!r} was evaluated with {rule}={a!r} and {second!r} with {rule}={b!r}; "
                "evaluate both by the same rules."
            )
    for name in metrics:
        a, b = (ev.definitions.get(name) for ev in (one, other))
        if a is not None and b is not None and a != b:
            raise checks.InputError(
                f"{name!r} means {a} for {first!r} and {b} for {second!r}; evaluate both by the same "
                "definition (convention= may change it), or compare by other metrics with metrics=."
            )


def _values(
    first: str, wanted: list[Any], model: str, evaluation: Evaluation, metrics: list[str]
) -> np.ndarray:
    """Return the values of one model, by metric, in the order of the first model's queries."""
    ids = evaluation.per_query["qid"].tolist()
    if wanted == ids and len(set(ids)) == len(ids):
        return np.array([evaluation.per_query[metric] for metric in metrics])
    row_of = _rows_by_id(model, ids)
    if set(wanted) != row_of.keys() and {*map(str, wanted)} == {*map(str, ids)}:
        # These are the same queries, with numbers as ids here and text there.
        wanted, row_of = list(map(str, wanted)), _rows_by_id(model, list(map(str, ids)))
    missing, extra = [q for q in wanted if q not in row_of], len(row_of.keys() - set(wanted))
    if missing or extra:
        example = missing[0] if missing else next(q for q in ids if q not in set(wanted))
        raise checks.InputError(
            f"{model!r} lacks {len(missing):,} of the {len(wanted):,} queries of {first!r} and has "
            f"{extra:,} others (such as {example!r}); evaluate both on the same queries."
        )
    order = [row_of[q] for q in wanted]
    return np.array([evaluation.per_query[metric][order] for metric in metrics])


def _rows_by_id(model: str, ids: list[Any]) -> dict[Any, int]:
    """Return the row of each query; raise if a query has two."""
    row_of = {q: row for row, q in enumerate(ids)}
    if len(row_of) < len(ids):
        repeated = next(q for row, q in enumerate(ids) if row_of[q] != row)
        raise checks.InputError(
            f"{model!r} has query {repeated!r} twice; expected one row per query."
        )
    return row_of
