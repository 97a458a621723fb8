"""What was trained, on what, how well and how long: computed as values, then rendered as short facts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwood._core.parts import is_part
from rankwood._core.text import columns_html, columns_text, plural
from rankwood.training.inputs import VALID


class Summary:
    """What a fitted estimator is: the result of `Ranker.summary`.

    Attributes
    ----------
    title : str
        The class of the estimator.
    values : dict
        What `to_dict` returns.
    """

    def __init__(self, title: str, values: dict[str, Any]) -> None:
        self.title, self.values = title, values

    def to_dict(self) -> dict[str, Any]:
        """Return all values, for JSON.

        Returns
        -------
        dict
            `objective`, `engine`, `trees` (of a network `epochs` in its place) that were kept, `rounds` that were
            trained, `validation` with `set`, the name of the validation set that decided (None if it isn't known),
            `metric`, `round` and `value` of the round that was kept (None without validation data), `data` with the
            numbers of `queries` and `documents` (None if they aren't known), `features`, `features_used`,
            `importances` by name, largest first, and `seconds` by step. Of two stages, `first` and `second` have these.
        """
        return dict(self.values)

    def facts(self) -> list[tuple[str, str]]:
        """Return the values as pairs of a name and a text.

        Returns
        -------
        list of (str, str)
            What is printed, line by line.
        """
        if "second" in self.values:
            return list(_two_stage_facts(self.values))
        return list(_facts(self.values))

    def __repr__(self) -> str:
        return f"{self.title}\n{columns_text(self.facts())}"

    def _repr_html_(self) -> str:
        return columns_html([(self.title, ""), *self.facts()], head=1)


class ValidationCurve(NamedTuple):
    """A metric of a validation set by round; the first set, which decides, may have no name."""

    metric: str
    part: str
    values: Sequence[float]


def curves_of(
    history: Mapping[str, Sequence[float]], sets: Sequence[str] = ()
) -> list[ValidationCurve]:
    """Return the curves of a `history_`, the one that decides first; keys are "metric" or "set metric".

    The first of `sets`, the names of the validation sets, is in no key.
    """
    names, first = list(map(str, history)), sets[0] if len(sets) > 1 else ""
    curves = []
    for name, values in zip(names, history.values(), strict=True):
        metric = max((m for m in names if name.endswith(f" {m}")), key=len, default=name)
        part = name[: -len(metric) - 1] if metric != name else first
        curves.append(ValidationCurve(metric, part, values))
    return curves


def summary_of(estimator: Any, top: int) -> Summary:
    """Return the summary of a fitted estimator, with its `top` most important features."""
    title = type(estimator).__name__
    if not hasattr(estimator, "second_"):
        return Summary(title, _values(estimator, top))
    values = {
        "top": int(estimator.top),
        "folds": len(estimator.first_),
        "data": getattr(estimator, "data_size_", None),
        "features": int(estimator.n_features_in_),
        "first": [_values(ranker, top) for ranker in estimator.first_],
        "second": _values(estimator.second_, top),
        "seconds": {step: float(s) for step, s in estimator.seconds_.items()},
    }
    return Summary(title, values)


def _values(ranker: Any, top: int) -> dict[str, Any]:
    """Return the values of one ranker; some are None if it is none of ours."""
    objective = getattr(ranker, "objective", None)
    curve = next(iter(curves_of(getattr(ranker, "history_", {}))), None)
    kept = getattr(ranker, "best_iteration_", None)
    architecture = getattr(ranker, "architecture", None)
    sets = getattr(ranker, "validation_sets_", None) or [None]  # older files have no names
    shares = importances_of(ranker)
    return {
        "objective": repr(objective) if is_part(objective) else objective,
        "engine": getattr(ranker, "engine", type(ranker).__name__),
        "architecture": architecture,
        "trees" if architecture is None else "epochs": kept,
        "rounds": kept if curve is None else len(curve.values),
        "validation": _validation(curve, kept, sets[0]),
        "data": getattr(ranker, "data_size_", None),
        "features": int(ranker.n_features_in_),
        "features_used": None if shares is None else sum(x > 0 for _, x in shares),
        "importances": None if shares is None else dict(shares[:top]),
        "seconds": {step: float(s) for step, s in getattr(ranker, "seconds_", {}).items()},
    }


def _validation(
    curve: ValidationCurve | None, kept: int | None, part: str | None
) -> dict[str, Any] | None:
    """Return the first metric on the first validation set, `part`, in the round that was kept."""
    if curve is None or not kept or kept > len(curve.values):
        return None
    value = float(curve.values[kept - 1])
    return {"set": part, "metric": curve.metric, "round": kept, "value": value}


def feature_labels(ranker: Any, count: int) -> list[str]:
    """Return a name for each of `count` features: its own, or its number, from 1 as in LETOR files."""
    names = getattr(ranker, "feature_names_in_", None)
    if names is None:
        return [f"feature {i}" for i in range(1, count + 1)]
    return list(map(str, np.asarray(names).tolist()))


def importances_of(ranker: Any) -> list[tuple[str, float]] | None:
    """Return all features and their shares of the importance, largest first; None if the model has none."""
    found = getattr(ranker, "feature_importances_", None)
    if found is None:
        return None
    names = feature_labels(ranker, len(found))
    order = np.argsort(-np.asarray(found), kind="stable")
    return [(names[i], float(found[i])) for i in order]


def short_summary(estimator: Any) -> str:
    """Return one line about a fitted estimator; empty if it isn't fitted."""
    if hasattr(estimator, "second_"):
        values = _values(estimator.second_, 0)
        first = plural(len(estimator.first_), "model")
        return f"fitted: {first} in the first stage, second stage {_outcome(values)}"
    if not hasattr(estimator, "model_"):
        return ""
    values = _values(estimator, 0)
    return f"fitted: {_outcome(values)}, {plural(values['features'], 'feature')}"


def _outcome(values: dict[str, Any]) -> str:
    """Return the size of a model and its validation metric."""
    unit, kept = _unit(values), _kept(values)
    found = values["validation"]
    text = "" if kept is None else plural(kept, unit)
    return text + (f", {found['metric']} {found['value']:.4f}" if found else "")


def _unit(values: dict[str, Any]) -> str:
    """Return what a round of training is called."""
    return "tree" if values["architecture"] is None else "epoch"


def _kept(values: dict[str, Any]) -> Any:
    """Return the number of trees or epochs that were kept; None if it isn't known."""
    return values[f"{_unit(values)}s"]


def _facts(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts of one ranker."""
    yield "objective", str(values["objective"])
    network = values["architecture"]
    yield "engine", values["engine"] + (f", {network}" if network else "")
    kept = _kept(values)
    rounds = "" if values["rounds"] == kept else f" of {values['rounds']} trained"
    yield f"{_unit(values)}s", f"{kept}{rounds}"
    found = values["validation"]
    if found:
        where = f"{found['set']}: " if found["set"] not in (None, VALID) else ""
        text = f"{where}{found['metric']} {found['value']:.4f} in round {found['round']}"
        yield "validation", text
    if values["data"]:
        yield "training data", _size(values["data"])
    used = values["features_used"]
    yield "features", f"{values['features']:,}" + ("" if used is None else f", {used:,} used")
    if values["importances"]:
        shares = (f"{name} {100 * share:.1f} %" for name, share in values["importances"].items())
        yield "importance", ", ".join(shares)
    yield from _seconds(values)


def _two_stage_facts(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts of two stages."""
    first = values["first"][0]
    sizes = sorted({_kept(one) for one in values["first"]} - {None})
    spread = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(*sizes)
    models, unit = plural(values["folds"], "model"), _unit(first)
    yield "first stage", f"{first['objective']}, {first['engine']}: {models} of {spread} {unit}s"
    yield "list", f"the best {plural(values['top'], 'document')} of each query"
    for name, text in _facts(values["second"]):
        if name not in ("training data", "seconds"):
            yield f"second stage, {name}", text
    if values["data"]:
        yield "training data", _size(values["data"])
    yield from _seconds(values)


def _size(data: Mapping[str, int]) -> str:
    return f"{plural(data['queries'], 'query')}, {plural(data['documents'], 'document')}"


def _seconds(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if values["seconds"]:
        steps = ", ".join(f"{step} {spent:.2f}" for step, spent in values["seconds"].items())
        yield "seconds", f"{sum(values['seconds'].values()):.2f} ({steps})"
