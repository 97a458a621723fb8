"""Computing a cell: training a model, and measuring it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.estimators.parameters import values_before_study
from rankwood.estimators.ranker import Ranker
from rankwood.fit.observers.recording import plain_record, records_of
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import evaluate
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.report.comparison.reference_models import perfect, random
from rankwood.reproduce.cells import pack
from rankwood.reproduce.networks import make_network

if TYPE_CHECKING:
    from rankwood.estimators.neural_ranker import NeuralRanker
    from rankwood.estimators.two_stage.estimator import TwoStage

_BOUNDS = {"perfect": perfect, "random": random}
_PARTS = ("train", "valid", "test")


def compute(
    spec: Mapping[str, Any],
    split: Any,
    wants: frozenset[str],
    *,
    n_jobs: int | None,
    storage: Path,
) -> dict[str, Any]:
    """Return the result of a cell, with all that is wanted beside it.

    `storage` is a file name for the trials of a tuner, so that a killed tuning can be resumed.
    """
    if spec["model"] == "statistics":
        return {"parts": {part: _counted(getattr(split, part)) for part in _PARTS}, "has": []}
    if "timing" in spec:
        return {
            "timing": _timed(spec, split, n_jobs),
            "has": [],
            "versions": versions(spec["engine"]),
        }
    rules = {**spec["conventions"], "n_jobs": n_jobs}
    if spec["model"] in _BOUNDS:
        found = _BOUNDS[spec["model"]](spec["metrics"], split.test, **rules)
        return {**_measured(found), "has": sorted(wants)}
    if spec["model"] == "first-stage":
        start = perf_counter()
        stages = _with_first_stage(spec, split, n_jobs)
        facts = {"seconds": {"total": perf_counter() - start}}
        fitted = FittedModel(stages.first_scores, facts, spec["two_stage"]["first"]["engine"])
    else:
        fitted = fit(spec, split, wants, n_jobs=n_jobs, storage=storage)
    found = evaluate(spec["metrics"], split.test, fitted.predict(split.test), **rules)
    result = {**_measured(found), "has": sorted(wants), **fitted.facts}
    for part in ("train", "valid"):
        if f"split:{part}" in wants:
            data = getattr(split, part)
            means = evaluate(spec["metrics"], data, fitted.predict(data), **rules).mean()
            result["means"][part] = {name: _number(mean) for name, mean in means.items()}
    return {**result, "versions": versions(fitted.engine)}


def _measured(found: Any) -> dict[str, Any]:
    """Return the values of each query, and their means."""
    values = np.array([found.per_query[name] for name in found.metrics])
    means = {name: _number(mean) for name, mean in found.mean().items()}
    return {
        "queries": int(values.shape[1]),
        "metrics": list(found.metrics),
        "values": pack(values),
        "means": {"test": means},
    }


def _number(value: float) -> float | None:
    """Return a number for JSON, which has none that isn't finite."""
    return float(value) if np.isfinite(value) else None


class FittedModel(NamedTuple):
    """How a fitted model scores documents, what is kept of its training, and its engine."""

    predict: Callable[[Any], np.ndarray]
    facts: dict[str, Any]
    engine: str


def fit(
    spec: Mapping[str, Any],
    split: Any,
    wants: frozenset[str],
    *,
    n_jobs: int | None,
    storage: Path,
) -> FittedModel:
    """Train the model of a cell."""
    ranker = make_ranker(spec, wants, n_jobs)
    start = perf_counter()
    chosen = None
    if spec["tuner"] is not None:
        ranker, chosen = _tuned(ranker, spec, split, storage)
    if spec["two_stage"] is not None:
        fitted = _two_stage(ranker, spec, split, n_jobs)
        second, history = fitted.second_, fitted.history_["second"]
        cut = {"cut_lists": float(np.mean(split.train.groups.sizes > fitted.top))}
    else:
        if chosen is None:
            ranker.fit(split.train, valid=split.valid)
        fitted, second, history, cut = ranker, ranker, ranker.history_, {}
    facts: dict[str, Any] = {
        "seconds": {"total": perf_counter() - start, **second.seconds_},
        "rounds": len(next(iter(history.values()), [])),
        "best_round": second.best_iteration_,
        "history": history,
        "curves": dict(second.record_),
        **cut,
    }
    if chosen is not None:
        facts["chosen"] = chosen
    if "train_curve" in wants:
        facts["train_history"] = _train_curve(second, split.train, facts["rounds"])
    return FittedModel(fitted.predict, facts, spec["engine"])


def make_ranker(
    spec: Mapping[str, Any], wants: frozenset[str] = frozenset(), n_jobs: int | None = None
) -> "Ranker | NeuralRanker":
    """Return the ranker of a cell, not fitted."""
    if spec["engine"] == "neural":
        return make_network(spec, n_jobs)
    objective = to_objective(spec["objective"])
    possible = records_of(objective)
    wanted = [want.removeprefix("record:") for want in sorted(wants) if want.startswith("record:")]
    record = [name for name in wanted if plain_record(name) in possible]
    patience = None if spec["stop"] is None else spec["patience"] or spec["rounds"]
    # A reproduction must not depend on our defaults.
    params = {**values_before_study(spec["engine"], objective), **spec["params"]}
    return Ranker(
        spec["objective"],
        spec["engine"],
        n_estimators=spec["rounds"],
        eval_metric=spec["stop"] or "ndcg@10",
        early_stopping_rounds=patience,
        shuffle=spec["shuffle"],
        random_state=spec["seed"],
        record=record or None,
        n_jobs=n_jobs,
        verbose=False,
        **params,
    )


def _train_curve(ranker: Ranker, train: Any, rounds: int) -> dict[str, list[float]]:
    """Return the metrics on the training data by round, of a second run with the same trees.

    Training takes the validation data into account for early stopping only, so the trees are the same.
    """
    again = clone(ranker).set_params(early_stopping_rounds=None, n_estimators=rounds, record=None)
    # Not `fit`, which would warn that both are the same data.
    again._fit(train, ValidationSets.single(train))
    history: dict[str, list[float]] = again.history_
    return history


def _tuned(
    ranker: Ranker, spec: Mapping[str, Any], split: Any, storage: Path
) -> tuple[Ranker, dict[str, Any]]:
    """Return the best ranker that a tuner found, fitted, and its parameters."""
    from rankwood import spaces
    from rankwood.tuning.study import tune

    # TOML has no word for None.
    tuner: dict[str, Any] = {n: None if v == "none" else v for n, v in spec["tuner"].items()}
    cutoff = re.search(r"@(\d+)", str(tuner.get("metric", "")))
    space = spaces.named(
        tuner.pop("space"),
        objective=spec["objective"],
        engine=spec["engine"],
        k=int(cutoff[1]) if cutoff else None,
    )
    storage.parent.mkdir(parents=True, exist_ok=True)
    rules = {name: spec["conventions"].get(name) for name in ("convention", "ties", "empty")}
    settings = {"tuner": tuner.pop("name"), "seed": spec["seed"], "storage": storage}
    tuning = tune(
        ranker, split.train, split.valid, space=space, verbose=False, **settings, **rules, **tuner
    )
    return tuning.best, dict(tuning.best_params)


def _two_stage(
    ranker: "Ranker | NeuralRanker", spec: Mapping[str, Any], split: Any, n_jobs: int | None
) -> "TwoStage":
    """Return two fitted stages."""
    model = _with_first_stage(spec, split, n_jobs)
    settings = {name: value for name, value in spec["two_stage"].items() if name != "first"}
    model.set_params(second=ranker, **settings)
    return model.fit_second(split.train, valid=split.valid)


def _with_first_stage(spec: Mapping[str, Any], split: Any, n_jobs: int | None) -> "TwoStage":
    """Return two stages of which the first is fitted; it is taken from the cell before if that has the same."""
    from rankwood.estimators.two_stage.estimator import TwoStage

    settings = dict(spec["two_stage"])
    first = {**settings.pop("first"), "seed": spec["seed"]}
    key = repr([first, spec["data"], settings["folds"]])
    if key not in _LAST:
        ranker = make_ranker(first, n_jobs=n_jobs)
        shortest = clone(ranker).set_params(n_estimators=1, record=None)  # a second stage in name
        seed = {"random_state": spec["seed"], "verbose": False}
        # The paper's protocol: test queries have folds too.
        settings = {"serve": "fold", **settings}
        model = TwoStage(ranker, shortest, **settings, **seed).fit(split.train, valid=split.valid)
        _LAST.clear()
        _LAST[key] = model
    return _LAST[key]


#: The last model of two stages in this process: rows of an item share their first stage, which takes the longest.
_LAST: "dict[str, TwoStage]" = {}


#: Objectives that were compiled before their time was taken.
_COMPILED: set[str] = set()


def _counted(data: Any) -> dict[str, Any]:
    """Return what statistics of data are made of: how many lists have which length, documents which label."""
    lengths = np.unique(data.groups.sizes, return_counts=True)
    labels = np.unique(data.y, return_counts=True)
    return {
        "features": data.n_features,
        "lengths": np.transpose(lengths).tolist(),
        "labels": np.transpose(labels).tolist(),
    }


def _timed(spec: Mapping[str, Any], split: Any, n_jobs: int | None) -> dict[str, float]:
    """Return the seconds of a training run: of all rounds, until the best one, of a call and of a tree.

    One round before that compiles the objective, once in a process.
    """
    ranker = make_ranker(spec, frozenset({"record:seconds"}), n_jobs)
    if spec["objective"] not in _COMPILED:
        clone(ranker).set_params(n_estimators=1).fit(split.train, valid=split.valid)
        _COMPILED.add(spec["objective"])
    ranker.fit(split.train, valid=split.valid)
    steps = {name: np.array(curve) for name, curve in ranker.record_.items()}
    rounds = np.sum(list(steps.values()), axis=0)
    calls = steps["seconds_gradients"]
    return {
        "training": float(np.sum(rounds)),
        "until_best": float(np.sum(rounds[: ranker.best_iteration_])),
        "objective_call": float(np.mean(calls)),
        "tree": float(np.mean(calls + steps["seconds_trees"])),
    }


def versions(engine: str) -> dict[str, str]:
    """Return the versions of the programs behind a model."""
    package = {"pairtree": [], "neural": ["torch"]}.get(engine, [engine])
    names = ["numpy", *package]
    return {"rankwood": __version__} | {name: version_of(name) or "unknown" for name in names}
