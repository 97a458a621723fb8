"""What was trained, on what, how well and how long: computed as values, then rendered as short facts."""

from collections.abc import Iterator, Mapping
from typing import Any

from rankwood._kernels.parts import is_part
from rankwood._util.text import cells_text, plural
from rankwood.fit.result import VALID, FitResult, Result
from rankwood.render.html import cells_html


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
            `objective`, `engine`, `trees` (of a network `epochs`, of a registered learner `steps`) that were kept,
            `rounds` that were trained, `validation` with `set`, the name of the validation set that decided (None if it
            isn't known), `metric`, `round` and `value` of the round that was kept (None without validation data),
            `data` with the numbers of `queries` and `documents` (None if they aren't known), `features`,
            `features_used`, `importances` by name, largest first, and `seconds` by step. Of two stages, `first` and
            `second` have these.
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
        return f"{self.title}\n{cells_text(self.facts())}"

    def _repr_html_(self) -> str:
        return cells_html([(self.title, ""), *self.facts()], head=1)


def summary_of(result: Result, title: str, top: int) -> Summary:
    """Return the summary of a result, with its `top` most important features."""
    if isinstance(result, FitResult):
        return Summary(title, _values(result, top))
    values = {
        "top": int(result.params["top"]),
        "folds": len(result.first),
        "data": None if result.data_size is None else result.data_size._asdict(),
        "features": result.schema.n_features,
        "first": [_values(stage, top) for stage in result.first],
        "second": _values(result.second, top),
        "seconds": {step: float(spent) for step, spent in result.seconds.items()},
    }
    return Summary(title, values)


def _values(result: FitResult | None, top: int) -> dict[str, Any]:
    """Return the values of one model; they are None if it is none of ours."""
    if result is None:
        names = ["objective", "engine", "architecture", "trees", "rounds", "validation", "data"]
        names += ["features", "features_used", "importances"]
        return {**dict.fromkeys(names), "seconds": {}}
    written = result.settings.params.get("objective")
    shares = result.ranked_importances()
    return {
        "objective": repr(written) if is_part(written) else written,
        "engine": result.settings.learner,
        "architecture": result.settings.params.get("architecture"),
        f"{result.unit}s": result.rounds,
        "rounds": result.trained,
        "validation": _validation(result),
        "data": None if result.data_size is None else result.data_size._asdict(),
        "features": result.schema.n_features,
        "features_used": None if shares is None else sum(x > 0 for _, x in shares),
        "importances": None if shares is None else dict(shares[:top]),
        "seconds": {step: float(spent) for step, spent in result.seconds.items()},
    }


def _validation(result: FitResult) -> dict[str, Any] | None:
    """Return the first metric on the first validation set in the round that was kept."""
    for name, metrics in result.history.items():
        for metric, curve in metrics.items():
            if not 0 < result.rounds <= len(curve):
                return None
            value = float(curve[result.rounds - 1])
            return {"set": name or None, "metric": metric, "round": result.rounds, "value": value}
    return None


def short_summary(result: Result) -> str:
    """Return one line about a result."""
    if isinstance(result, FitResult):
        values = _values(result, 0)
        return f"fitted: {_outcome(values)}, {plural(values['features'], 'feature')}"
    first = plural(len(result.first), "model")
    return f"fitted: {first} in the first stage, second stage {_outcome(_values(result.second, 0))}"


def _outcome(values: dict[str, Any]) -> str:
    """Return the size of a model and its validation metric."""
    unit, kept = _unit(values), _kept(values)
    validation = values["validation"]
    text = "" if kept is None else plural(kept, unit)
    return text + (f", {validation['metric']} {validation['value']:.4f}" if validation else "")


def _unit(values: dict[str, Any]) -> str:
    """Return what a round of training is called."""
    return next(unit for unit in ("tree", "epoch", "step") if f"{unit}s" in values)


def _kept(values: dict[str, Any]) -> Any:
    """Return the number of trees, epochs or steps that were kept; None if it isn't known."""
    return values[f"{_unit(values)}s"]


def _facts(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts of one ranker."""
    if values["engine"] is None:
        yield "model", "of another library"
        return
    yield "objective", str(values["objective"])
    network = values["architecture"]
    yield "engine", values["engine"] + (f", {network}" if network else "")
    kept = _kept(values)
    rounds = "" if values["rounds"] == kept else f" of {values['rounds']} trained"
    yield f"{_unit(values)}s", f"{kept}{rounds}"
    validation = values["validation"]
    if validation:
        where = f"{validation['set']}: " if validation["set"] not in (None, VALID) else ""
        text = f"{where}{validation['metric']} {validation['value']:.4f} in round {validation['round']}"
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
    sizes = sorted({_kept(stage) for stage in values["first"]} - {None})
    spread = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(*sizes)
    models, unit = plural(values["folds"], "model"), _unit(first)
    known = f"{first['objective']}, {first['engine']}: {models} of {spread} {unit}s"
    yield "first stage", known if first["engine"] else f"{models} of another library"
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
