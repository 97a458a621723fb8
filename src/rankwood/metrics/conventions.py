"""What programs do where they differ, as data; what the caller states wins.

`ties` and `empty` are the rules of `evaluate`; under `metrics` are the parameters that a program gives a
metric, and its own rule for empty queries. `scores` is the precision in which a program keeps scores, and
`missing` what happens to judged queries that a run doesn't have. Metrics that a program doesn't have keep
their own definition.
"""

from typing import Any

import numpy as np

from rankwood._core import checks, spec
from rankwood.metrics.registry import METRICS
from rankwood.metrics.verbs import value

TIES = ("worst", "input", "best", "average")
EMPTY = (0, 1, "skip")

_ABOVE_HALF = float(np.nextafter(np.float32(0.5), np.float32(1)))  # labels are float32 there
_ABOVE_ZERO = float(np.nextafter(0.0, 1.0))

DEFAULTS: dict[str, Any] = {
    "ties": "worst",
    "empty": 0,
    "scores": "float64",
    "missing": 0,
    "metrics": {},
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
        "scores": "float32",
        "missing": "skip",
        "metrics": {
            "ndcg": {"gain": "linear"},
            "p": {"divide_by": "k"},
            "map": {"divide_by": "relevant"},
        },
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
    "sklearn": {
        "ties": "average",
        "metrics": {"ndcg": {"gain": "linear"}, "dcg": {"gain": "linear"}},
    },
}


def rules(convention: str | None, ties: str | None = None, empty: Any = None) -> dict[str, Any]:
    """Return the rules of a program, or the default ones, with what the caller states put in."""
    known = {**DEFAULTS}
    if convention is not None:
        known.update(CONVENTIONS[checks.one_of(convention, CONVENTIONS, "convention")])
    if ties is not None:
        known["ties"] = checks.one_of(ties, TIES, "ties")
    if empty is not None:
        known["empty"] = checks.one_of(empty, EMPTY, "empty")
        settings = known["metrics"].items()
        known["metrics"] = {name: {**own, "empty": empty} for name, own in settings}
    return known


def build(what: Any, known: dict[str, Any]) -> tuple[Any, Any]:
    """Return the part that a text or a part describes under these rules, and its rule for empty queries."""
    own: dict[str, Any] = {}
    if isinstance(what, str):
        own = known["metrics"].get(what.split("(")[0].split("@")[0].strip(), {})
    settings = {name: value for name, value in own.items() if name != "empty"}
    part = spec.build(what, METRICS, "metric", {}, settings)
    if not value.verb.able(part):
        raise checks.InputError(f"{what} is not a metric; known are {', '.join(METRICS)}.")
    return part, own.get("empty", known["empty"])
