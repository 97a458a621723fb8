"""A model card: what a model file says about its model, on one page of Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwood._util.atomic import written
from rankwood._util.envelope import damaged, read_content
from rankwood._util.text import plural, printable
from rankwood.fit.files.model_file import kind_of
from rankwood.fit.origin import origin_from
from rankwood.fit.result import nested_history, unit_of_round
from rankwood.report.comparison.align import better_sign

# A path of the machine that trained the model says more about its user than about the model.
_PATH = re.compile(r"(?:[A-Za-z]:[\\/]|~|/|\\\\)(?:[^\\/\n'\"]*[\\/])+")
_MOST_FEATURES = 200
_SENTENCE = (
    "It scores documents of a query: the higher the score, the higher the rank. Scores of different queries can't be "
    "compared."
)


class ModelCard:
    """What a model file says about its model: the result of `Ranker.card` and of `rankwood card`.

    Attributes
    ----------
    values : dict
        What `to_dict` returns.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def to_dict(self) -> dict[str, Any]:
        """Return all values, for JSON.

        Returns
        -------
        dict
            `kind`, `file` and `sha256` (of a card from a file), `rankwood`, `data`, `fingerprint`, `n_features`,
            `features` (names, or None), `categories`, `reading`, `params`, and `stages`: for each ranker its `name`,
            `objective`, `engine`, `rounds`, `kept`, `metrics`, `params`, `seconds` and `versions`.
        """
        return dict(self.values)

    def to_markdown(self, path: Any = None) -> str:
        """Return the card as Markdown.

        Parameters
        ----------
        path : path, optional
            A file to write the text to as well.

        Returns
        -------
        str
            A page with tables; it names no folder of the machine that the model was trained on.
        """
        return written("\n".join(_lines(self.values)).rstrip("\n") + "\n", path)

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def read_card(path: str | Path) -> ModelCard:
    """Return the card of a model file. The engine of the model need not be installed."""
    kind = kind_of(path)
    content = read_content(path, kind)
    more = {"file": Path(path).name, "sha256": content["sha256"], "rankwood": content["rankwood"]}
    try:
        card = card_of(content, kind, more)
        card.to_markdown()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise damaged(path, "its values don't make a model") from None
    return card


def card_of(
    content: Mapping[str, Any], kind: str, more: Mapping[str, Any] | None = None
) -> ModelCard:
    """Return the card of the object of a model file."""
    origin = origin_from(content.get("origin"))
    stages = [_stage("model", content)]
    if kind == "TwoStage":
        first = [(f"first stage, fold {i}", one) for i, one in enumerate(content["first"], 1)]
        if len(first) == 1 and isinstance(first[0][1], dict):
            first = [("first stage", first[0][1])]
        if content.get("refit"):
            first.append(("first stage, all queries", content["refit"]))
        stages = [_stage(name, one) for name, one in [*first, ("second stage", content["second"])]]
    own = content["params"] if kind == "TwoStage" else {}
    return ModelCard(
        {
            "kind": kind,
            **(more or {}),
            "data": content.get("data_size"),
            "fingerprint": None if origin is None else origin.fingerprint,
            "n_features": content["n_features"],
            "features": content["feature_names"],
            "categories": content.get("categories") or {},
            "reading": content.get("letor"),
            "params": {n: _shown(v) for n, v in own.items() if n not in ("first", "second")},
            "stages": stages,
        }
    )


def _stage(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of one ranker."""
    history, kept = nested_history(content.get("history", {}), None), content.get("best_iteration")
    curves = [
        (metric, part or "validation", values)
        for part, metrics in history.items()
        for metric, values in metrics.items()
    ]
    params = {**content.get("params", {}), **content.get("chosen", {}), **content.get("fitted", {})}
    origin = origin_from(content.get("origin"))
    network = params.get("architecture")
    if "engine" in params:  # it may have been left open
        params["engine"] = content["engine"]
    return {
        "name": name,
        "objective": params.get("objective"),
        "composition": content.get("objective"),
        "engine": f"neural, {network}" if network else content.get("engine", "neural"),
        "unit": "epoch" if network else unit_of_round(str(content.get("engine"))),
        "kept": kept,
        "rounds": len(curves[0][2]) if curves else kept,
        "metrics": [_metric(*curve, kept) for curve in curves if len(curve[2])],
        "params": {n: _shown(v) for n, v in params.items() if n != "objective"},
        "seconds": content.get("seconds", {}),
        "versions": {} if origin is None else dict(origin.versions),
    }


def _metric(metric: str, part: str, values: Sequence[float], kept: int | None) -> dict[str, Any]:
    """Return a metric in the round that was kept, and its best value with the round."""
    sign = better_sign(metric)
    best = max(range(len(values)), key=lambda i: sign * values[i])
    own = values[kept - 1] if kept and kept <= len(values) else None
    found = {"metric": metric, "data": part, "kept": own}
    return {**found, "best": values[best], "best_round": best + 1}


def _shown(value: Any) -> Any:
    """Return the value of a parameter, without folders of somebody's machine."""
    if isinstance(value, str):
        return _PATH.sub("", value)
    if isinstance(value, Mapping):
        return {_shown(name): _shown(item) for name, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _lines(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    last = card["stages"][-1]
    yield f"# Model card: {_code(last['objective'] or last['composition'])}"
    yield ""
    yield f"A model of Rankwood ({card['kind']}). {_SENTENCE}"
    yield ""
    yield from _table(("", ""), _facts(card))
    yield from _metrics(card["stages"])
    yield from _use(card)
    yield from _parameters(card)
    yield from _features(card)
    yield from _versions(card["stages"])


def _facts(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what identifies the model, its data and its size."""
    for stage in card["stages"]:
        rounds = "" if stage["rounds"] == stage["kept"] else f" of {stage['rounds']} trained"
        kept = "" if stage["kept"] is None else f", {plural(stage['kept'], stage['unit'])}{rounds}"
        objective = f"{_code(stage['objective'])}, " if len(card["stages"]) > 1 else ""
        yield stage["name"], f"{objective}{_text(stage['engine'])}{kept}"
    data = card["data"]
    if data:
        queries, documents = plural(data["queries"], "query"), plural(data["documents"], "document")
        yield "training data", f"{queries}, {documents}"
    if card["fingerprint"]:
        yield "digest of the training data", _code(card["fingerprint"])
    yield "features", f"{card['n_features']:,}"
    if card["reading"]:
        options = ", ".join(f"{name} {value}" for name, value in card["reading"].items())
        yield "training files were read with", _text(options)
    for name in ("file", "sha256"):
        if name in card:
            yield name, _code(card[name])
    for stage in card["stages"][-1:]:
        yield "composition", _code(stage["composition"])


def _metrics(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the metrics on validation data."""
    rows = [
        (
            stage["name"],
            _text(one["metric"]),
            _text(one["data"]),
            "" if one["kept"] is None else f"{one['kept']:.4f}",
            f"{one['best']:.4f} (round {one['best_round']})",
        )
        for stage in stages
        for one in stage["metrics"]
    ]
    yield "## Metrics"
    yield ""
    if not rows:
        yield "The model was trained without validation data."
        yield ""
        return
    yield "Means over the queries of validation data, which chose the round that was kept: not test data."
    yield ""
    yield from _table(("", "metric", "data", "of the model", "best round"), rows)


def _use(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield how to load the model."""
    yield from ("## Use", "", "```python", "import rankwood as rw", "")
    yield f"ranker = rw.{card['kind']}.load({printable(card.get('file', 'model.json'))!r})"
    pairs = any(str(s["params"].get("objective", "")).startswith("bi-") for s in card["stages"])
    needs = ", qid=query_ids" if card["kind"] == "TwoStage" or pairs else ""
    yield f"scores = ranker.predict(X{needs})"
    yield from ("```", "")


def _parameters(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of parameters, with a column for each stage; folds have the same ones."""
    shown = [s for s in card["stages"] if not re.search(r"fold (?!1$)|all queries$", s["name"])]
    names = dict.fromkeys(name for stage in shown for name in stage["params"])
    heads = ("parameter", *(stage["name"].removesuffix(", fold 1") for stage in shown))
    rows = [
        (_code(n), *(_code(s["params"][n]) if n in s["params"] else "" for s in shown))
        for n in names
    ]
    yield from ("## Parameters", "")
    if card["params"]:
        yield from _table(
            ("parameter", "both stages"), [(_code(n), _code(v)) for n, v in card["params"].items()]
        )
    yield from _table(heads, rows)


def _features(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the features."""
    yield from ("## Features", "")
    names = card["features"]
    if names is None:
        count = card["n_features"]
        last = f" to `f{count}`" if count > 1 else ""
        yield f"{plural(count, 'feature')} without names, in the order of the training data: `f1`{last}."
        yield ""
        return
    rows = [
        (str(i), _code(name), ", ".join(map(_code, card["categories"].get(name, ()))))
        for i, name in enumerate(names[:_MOST_FEATURES], 1)
    ]
    kept = slice(None) if card["categories"] else slice(2)
    yield from _table(("", "name", "categories")[kept], [row[kept] for row in rows])
    if len(names) > _MOST_FEATURES:
        yield f"And {len(names) - _MOST_FEATURES:,} more."
        yield ""


def _versions(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the programs that trained the model, and the seconds that it took."""
    known = {name: v for stage in stages for name, v in stage["versions"].items()}
    if known:
        yield from ("## Versions", "")
        yield from _table(("program", "version"), [(_text(n), _text(v)) for n, v in known.items()])
    spent = sum(sum(stage["seconds"].values()) for stage in stages)
    yield f"Training took {spent:.1f} seconds."


def _table(heads: Sequence[str], rows: Any) -> Iterator[str]:
    """Yield a table, and an empty line."""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _text(value: Any) -> str:
    """Return a text for a cell, in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", printable(str(value)))


def _code(value: Any) -> str:
    """Return a value as code for a cell: its backticks are inside longer ones, and bars are escaped."""
    text = printable(str(value)).replace("|", "\\|")
    if "`" not in text:
        return f"`{text}`"
    marks = "`" * (1 + max(len(run) for run in re.findall("`+", text)))
    return f"{marks} {text} {marks}"
