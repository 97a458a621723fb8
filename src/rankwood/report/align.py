"""Evaluations of several models brought together: the same metrics of the same queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.metrics.evaluate import metric as metric_part
from rankwood.metrics.evaluation import Evaluation


@dataclass(frozen=True)
class Aligned:
    """Values by model, metric and query."""

    models: list[str]
    metrics: list[str]
    ids: np.ndarray
    values: np.ndarray
    conventions: dict[str, Any]


def align(evaluations: Any, metrics: Any = None) -> Aligned:
    """Match models query by query, in the order of the first; raise if they can't be compared."""
    named = _named(evaluations)
    first, *others = named
    names = _metrics(named, metrics)
    for other in others:
        _same_rules(first, named[first], other, named[other], names)
    ids = named[first].per_query["qid"]
    values = [_values(first, ids.tolist(), name, named[name], names) for name in named]
    conventions = {}
    for evaluation in reversed(named.values()):
        conventions.update(evaluation.conventions)
    return Aligned(list(named), names, ids, np.array(values), conventions)


def align_one(table: Aligned, name: str, evaluation: Evaluation) -> np.ndarray:
    """Return the values of one more model, whatever its rules, in the order of the table's queries."""
    if name in table.models:
        raise checks.InputError(f"{name!r} is the name of a model already; give it another.")
    _check_kind(name, evaluation)
    _check_metrics(name, evaluation, table.metrics)
    return _values(table.models[0], table.ids.tolist(), name, evaluation, table.metrics)


def _named(evaluations: Any) -> dict[str, Evaluation]:
    if isinstance(evaluations, (list, tuple)):
        evaluations = {f"model {i}": ev for i, ev in enumerate(evaluations, 1)}
    if not isinstance(evaluations, Mapping):
        raise checks.InputError(
            "evaluations must be a dictionary such as {'a': ev_a, 'b': ev_b}, "
            f"got {type(evaluations).__name__}."
        )
    for name, evaluation in evaluations.items():
        _check_kind(str(name), evaluation)
    named = {str(name): evaluation for name, evaluation in evaluations.items()}
    if len(named) < len(evaluations):
        raise checks.InputError("two models have the same name as text; give each its own.")
    if len(named) < 2:
        raise checks.InputError(f"there must be at least two models to compare, got {len(named)}.")
    return named


def _metrics(named: dict[str, Evaluation], metrics: Any) -> list[str]:
    """Return the metrics to compare by: those asked for, or all of the first model."""
    first = next(iter(named))
    names = [metrics] if isinstance(metrics, str) else list(metrics or named[first].metrics)
    names = list(dict.fromkeys(str(name) for name in names))
    if not names:
        raise checks.InputError(f"model {first!r} has no metric to compare by.")
    for model, evaluation in named.items():
        _check_metrics(model, evaluation, names)
    return names


def _check_kind(model: str, evaluation: Any) -> None:
    if not isinstance(evaluation, Evaluation):
        raise checks.InputError(
            f"model {model!r} must be an Evaluation, as rankwood.evaluate returns it, "
            f"got {type(evaluation).__name__}."
        )


def _check_metrics(model: str, evaluation: Evaluation, names: list[str]) -> None:
    for name in names:
        if name not in evaluation.metrics:
            near = checks.nearest(name, evaluation.metrics).rstrip(".?").replace("known", "there")
            raise checks.InputError(
                f"model {model!r} has no metric {name!r}{near}; evaluate every model by the same "
                "metrics, or say which with metrics=."
            )


def _same_rules(
    first: str, one: Evaluation, second: str, other: Evaluation, metrics: list[str]
) -> None:
    """Raise if two models were evaluated by different rules; a table read from a file states none."""
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
    first: str, want: list[Any], name: str, other: Evaluation, metrics: list[str]
) -> np.ndarray:
    """Return the values of one model, by metric, in the order of the first model's queries."""
    have = other.per_query["qid"].tolist()
    if want == have and len(set(have)) == len(have):
        return np.array([other.per_query[metric] for metric in metrics])
    place = _places(name, have)
    if set(want) != place.keys() and {*map(str, want)} == {*map(str, have)}:
        # The same queries, numbers here and text there.
        want, place = list(map(str, want)), _places(name, list(map(str, have)))
    lacking, more = [q for q in want if q not in place], len(place.keys() - set(want))
    if lacking or more:
        example = lacking[0] if lacking else next(q for q in have if q not in set(want))
        raise checks.InputError(
            f"{name!r} lacks {len(lacking):,} of the {len(want):,} queries of {first!r} and has "
            f"{more:,} others (such as {example!r}); evaluate both on the same queries."
        )
    order = [place[q] for q in want]
    return np.array([other.per_query[metric][order] for metric in metrics])


def _places(name: str, ids: list[Any]) -> dict[Any, int]:
    place = {q: i for i, q in enumerate(ids)}
    if len(place) < len(ids):
        twice = next(q for i, q in enumerate(ids) if place[q] != i)
        raise checks.InputError(f"{name!r} has query {twice!r} twice; expected one row per query.")
    return place


def direction(name: str) -> int:
    """Return 1 where more is better, -1 where less is; a metric that we don't know counts as the former."""
    try:
        part = metric_part(name)
    except checks.InputError:
        return 1
    return 1 if getattr(part, "higher_is_better", True) else -1
