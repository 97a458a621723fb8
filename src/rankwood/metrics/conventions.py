"""What programs do where they differ, as data; what the caller states wins.

`ties` and `empty` are the rules of `evaluate`; under `metrics` are the parameters that a program gives a
metric, and its own rule for empty queries. `scores` is the precision in which a program keeps scores,
`missing` what happens to judged queries that a run doesn't have, `by_id` whether equal scores go by decreasing
document id, and `program` whose names go first. Metrics that a program doesn't have keep their own definition.
"""

from typing import Any

import numpy as np

from rankwood._kernels import spec
from rankwood._util import checks
from rankwood.metrics.registry import METRICS, metric_text
from rankwood.metrics.verbs import value

TIES = ("worst", "input", "best", "average")
EMPTY = (0, 1, "skip")

_ABOVE_HALF = float(np.nextafter(np.float32(0.5), np.float32(1)))  # labels are float32 there
_ABOVE_ZERO = float(np.nextafter(0.0, 1.0))

_OF_TREC_EVAL = {
    "ndcg": {"gain": "linear"},
    "p": {"divide_by": "k"},
    "map": {"divide_by": "relevant"},
}

DEFAULTS: dict[str, Any] = {
    "ties": "worst",
    "empty": 0,
    "scores": "float64",
    "missing": 0,
    "metrics": {},
    "program": None,
    "by_id": False,
}
CONVENTIONS: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "ties": "input",
        "metrics": {
            "ndcg": {"gain": "exp", "empty": 1},
            "map": {"rel": _ABOVE_HALF, "divide_by": "reachable", "empty": 1},
        },
    },
    "xgboost": {
        "ties": "input",
        "scores": "float32",
        "metrics": {
            # Without a cutoff it takes the first 32, whatever else is set.
            "ndcg": {"k": 32, "gain": "exp", "empty": 1},
            "map": {"k": 32, "rel": 1, "divide_by": "reachable", "empty": 1},
            "p": {"k": 32, "rel": 1, "divide_by": "places"},
        },
    },
    "catboost": {
        "ties": "worst",
        "metrics": {
            "ndcg": {"gain": "linear", "empty": 1},
            "dcg": {"gain": "linear"},
            "map": {"rel": _ABOVE_HALF, "divide_by": "reachable"},
            "mrr": {"rel": _ABOVE_HALF},
            "p": {"rel": _ABOVE_HALF, "divide_by": "places"},
            "recall": {"rel": _ABOVE_HALF, "empty": 1},
            "err": {"gain": "linear", "max_label": 1},
            "pfound": {"gain": "linear", "max_label": 1, "decay": 0.85},
        },
    },
    "trec_eval": {
        "ties": "input",
        "by_id": True,
        "scores": "float32",
        "missing": "skip",
        "metrics": _OF_TREC_EVAL,
    },
    "ranklib": {
        "ties": "input",
        "metrics": {
            "ndcg": {"gain": "exp"},
            "dcg": {"gain": "exp"},
            "map": {"rel": _ABOVE_ZERO, "divide_by": "relevant"},
            "mrr": {"rel": _ABOVE_ZERO},
            "p": {"rel": _ABOVE_ZERO, "divide_by": "places"},
            "err": {"gain": "exp", "max_label": 4},
        },
    },
    "ir_measures": {
        "ties": "input",
        "by_id": True,
        "scores": "float32",
        "metrics": _OF_TREC_EVAL,
    },
    "ranx": {
        "ties": "input",
        "metrics": {**_OF_TREC_EVAL, "dcg": {"gain": "linear"}},
    },
    "sklearn": {
        "ties": "average",
        "metrics": {"ndcg": {"gain": "linear"}, "dcg": {"gain": "linear"}},
    },
}


def rules(convention: str | None, ties: str | None = None, empty: Any = None) -> dict[str, Any]:
    """Return the rules of a program, or the default ones, with what the caller states put in."""
    known = {**DEFAULTS, "program": convention}
    if convention is not None:
        known.update(CONVENTIONS[checks.one_of(convention, CONVENTIONS, "convention")])
    if ties is not None:
        known["ties"] = checks.one_of(ties, TIES, "ties")
        known["by_id"] = False
    if empty is not None:
        known["empty"] = checks.one_of(empty, EMPTY, "empty")
        settings = known["metrics"].items()
        known["metrics"] = {name: {**own, "empty": empty} for name, own in settings}
    return known


def build(what: Any, conventions: dict[str, Any]) -> tuple[Any, Any]:
    """Return the part that a text or a part describes under these rules, and its rule for empty queries."""
    text = metric_text(what)
    reading = (
        spec.read(text, METRICS, "metric", conventions["program"])
        if isinstance(text, str)
        else None
    )
    own: dict[str, Any] = {} if reading is None else conventions["metrics"].get(reading.name, {})
    settings = {name: value for name, value in own.items() if name != "empty"}
    part = spec.build(reading or text, METRICS, "metric", {}, settings)
    if not value.verb.able(part):
        raise checks.InputError(f"{what} is not a metric; known are {', '.join(METRICS)}.")
    rules = {} if reading is None else reading.rules
    return part, rules.get("empty", own.get("empty", conventions["empty"]))
