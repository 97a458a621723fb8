"""Arguments of `fit` as LightGBM, XGBoost and CatBoost spell them: used, or refused with their place here."""

import inspect
from collections.abc import Sequence
from typing import Any

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.frames import is_lazy
from rankwood.engines._parameters import RANKER_NAMES
from rankwood.fit.arguments import FitArguments, SourceWords
from rankwood.fit.context import Callback

#: Arguments of `fit` elsewhere that are parameters of a ranker here, by our names, and how they are written.
_OF_RANKER = {
    "eval_metric": "eval_metric=['ndcg@10', 'map']",
    "eval_at": "eval_metric=['ndcg@5', 'ndcg@10']",
    "early_stopping_rounds": "early_stopping_rounds=50",
    "n_estimators": "n_estimators=500",
    "categorical_feature": "categorical_feature=[0, 3]",
    "objective": "objective='lambdarank-ndcg@10'",
    "verbose": "verbose=True",
    "params": "learning_rate=0.1, num_leaves=31",
}
#: Arguments that have another form here.
_INSTEAD = {
    "eval_names": "name the sets: valid={'recent': (X, y, qid)}",
    "evals": "give valid={'recent': (X, y, qid)}; the first set decides",
    "valid_sets": "give valid={'recent': (X, y, qid)}; the first set decides",
    "validation_data": "give valid=(X, y, qid)",
    "validation_fraction": "split by query: train, valid = data.split(0.2)",
    "feature_name": "give a table, or RankingData(X, y, qid=qid, feature_names=names)",
    "feature_names": "give a table, or RankingData(X, y, qid=qid, feature_names=names)",
    **dict.fromkeys(("eval_X", "eval_y"), "give valid=(X_valid, y_valid, qid_valid)"),
    "evals_result": "read history_ after fit",
    "eval_result": "read history_ after fit",
    "use_best_model": "the best round is kept unless early_stopping_rounds=None; omit it",
    "plot": "give callbacks=[rankwood.callbacks.LiveCurve()]",
    "plot_file": "give callbacks=[rankwood.callbacks.CSV('rounds.csv')] and draw that",
    "group_weight": "give weight=, a number per query",
    "eval_sample_weight": "omit it: metrics count every query the same",
    "sample_weight_eval_set": "omit it: metrics count every query the same",
    "eval_group_weight": "omit it: metrics count every query the same",
    "pairs": "give RankingData(X, y, qid=qid, pairs=pairs) and objective='ranknet-pairs'",
    **dict.fromkeys(
        ("init_score", "eval_init_score", "base_margin", "base_margin_eval_set", "baseline"),
        "omit it: training starts from equal scores",
    ),
    **dict.fromkeys(
        ("init_model", "xgb_model", "keep_training_booster"),
        "fit a ranker that is fitted, with warm_start=True and a larger n_estimators",
    ),
    **dict.fromkeys(
        ("position", "positions"), "omit it: clicks and their position bias are not modelled"
    ),
    **dict.fromkeys(
        ("snapshot_interval", "save_snapshot", "snapshot_file"),
        "give checkpoint=, a file from which a killed run resumes",
    ),
}
#: Words of constructors elsewhere that are arguments of `fit` here.
_OF_FIT = {
    **dict.fromkeys(
        ("group_id", "query_id", "qid", "query", "group_column", "query_column"),
        "fit(X, y, qid=ids)",
    ),
    "group": "fit(X, y, group=sizes)",
    **dict.fromkeys(("weight", "sample_weight", "weight_column"), "fit(X, y, qid=ids, weight=...)"),
    **dict.fromkeys(
        ("eval_set", "eval_group", "eval_qid", "valid", "valid_sets", "evals"),
        "fit(X, y, qid=ids, valid=(X_valid, y_valid, qid_valid))",
    ),
    "callbacks": "fit(train, callbacks=[f])",
    "feature_name": "RankingData(X, y, qid=ids, feature_names=names)",
    "feature_names": "RankingData(X, y, qid=ids, feature_names=names)",
}
_TAKEN = ("eval_set", "eval_qid", "eval_group", "group_id", "query_id")
#: Callbacks of other programs by the names of their classes, and what takes their place.
_CALLBACKS = {
    "_EarlyStoppingCallback": "Ranker(early_stopping_rounds=50)",
    "EarlyStopping": "Ranker(early_stopping_rounds=50)",
    "_LogEvaluationCallback": "rankwood.callbacks.Log()",
    "EvaluationMonitor": "rankwood.callbacks.Log()",
    "_RecordEvaluationCallback": "history_ after fit",
    "LightGBMPruningCallback": "rankwood.callbacks.OptunaPruning(trial)",
    "XGBoostPruningCallback": "rankwood.callbacks.OptunaPruning(trial)",
    "CatBoostPruningCallback": "rankwood.callbacks.OptunaPruning(trial)",
    "_ResetParameterCallback": "a fixed learning_rate: it can't change between rounds",
    "LearningRateScheduler": "a fixed learning_rate: it can't change between rounds",
    "TrainingCheckPoint": "a function that calls round.model().save(path)",
}


def check_constructor(params: dict[str, Any]) -> None:
    """Raise if a parameter of a ranker is an argument of `fit`."""
    for name in params:
        if name in _OF_FIT:
            raise checks.InputError(f"{name} isn't a parameter of a ranker: write {_OF_FIT[name]}.")


def fit_arguments(
    arguments: FitArguments, others: dict[str, Any], estimator: Any
) -> tuple[FitArguments, SourceWords]:
    """Return the data arguments of `fit`, with those that have other names; raise if one belongs elsewhere."""
    words = SourceWords(**{n: v for n, v in others.items() if n in SourceWords._fields})
    others = {name: value for name, value in others.items() if name not in SourceWords._fields}
    kind = type(estimator).__name__
    for name in others:
        if name not in _TAKEN:
            raise checks.InputError(_answer(name, kind, _arguments(estimator)))
    for name in ("group_id", "query_id"):
        if name in others:
            _only_once(name, "qid", arguments)
            arguments = arguments._replace(qid=others[name])
    if "eval_set" in others:
        _only_once("eval_set", "valid", arguments)
        arguments = arguments._replace(valid=_validation(others))
    elif "eval_qid" in others or "eval_group" in others:
        raise checks.InputError("the queries of validation data need its rows: give eval_set= too.")
    return arguments, words


def _only_once(name: str, ours: str, arguments: FitArguments) -> None:
    if getattr(arguments, ours) is not None:
        raise checks.InputError(f"{name} and {ours} mean the same: give one of them.")


def _arguments(estimator: Any) -> list[str]:
    """Return the names of the arguments of `fit`."""
    parameters = inspect.signature(estimator.fit).parameters.values()
    named = [p.name for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD]
    return [*named, *SourceWords._fields]


def _answer(name: str, kind: str, arguments: list[str]) -> str:
    """Return the error message for an argument that `fit` doesn't have."""
    if name in _INSTEAD:
        return f"fit has no {name}: {_INSTEAD[name]}."
    written = _OF_RANKER.get(name) or _OF_RANKER.get(RANKER_NAMES.get(name, ""))
    if written and kind == "TwoStage":
        return f"fit has no {name}: it is a parameter of a stage, as in first=Ranker({written})."
    if written:
        return f"fit has no {name}: it is a parameter, as in {kind}({written})."
    return f"fit has no argument {name!r}{checks.nearest(name, [*arguments, *_TAKEN])}"


def _validation(others: dict[str, Any]) -> Any:
    """Return validation data as `fit` takes it, from `eval_set` and the queries beside it."""
    sets = others["eval_set"]
    queries = [others.get(name) for name in ("eval_qid", "eval_group")]
    if isinstance(sets, Source):
        return sets
    if _is_pair(sets):  # CatBoost takes a single pair
        sets, queries = [sets], [None if q is None else [q] for q in queries]
    if not isinstance(sets, (list, tuple)) or not sets:
        raise checks.InputError(f"eval_set must be a list of (X, y), got {type(sets).__name__}.")
    if len(sets) > 1:
        # Programs differ in which set stops training: LightGBM any, XGBoost the last.
        raise checks.InputError(
            f"eval_set has {len(sets)} sets, and programs differ in which one stops training: give "
            "valid={'recent': (X, y, qid), 'older': ...}, the deciding one first."
        )
    if isinstance(sets[0], Source):
        return sets[0]
    if not _is_pair(sets[0]):
        raise checks.InputError(
            "eval_set must be a list with a pair (X, y), with eval_qid or eval_group beside it; or give "
            "valid=(X, y, qid)."
        )
    X, y = sets[0]
    qid, group = (None if q is None else _first(q) for q in queries)
    if (qid is None) == (group is None):
        raise checks.InputError(
            "eval_set needs the queries of its rows: give eval_qid=[ids] or eval_group=[sizes], one entry per set."
        )
    if is_lazy(X):  # the workers of a cluster make the data
        return X, y, qid
    return RankingData(X, y, qid=qid, group=group)


def _is_pair(x: Any) -> bool:
    """Return whether this is (X, y), and not a list of such."""
    return isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], (tuple, Source))


def _first(queries: Any) -> Any:
    """Return the queries of the only set: the entry of a list of one, or what was given without a list."""
    if isinstance(queries, (list, tuple)) and len(queries) == 1:
        return queries[0]
    return queries


def check_callbacks(callbacks: Any) -> Sequence[Callback]:
    """Return callbacks as a list; raise if one can't be called, or belongs to another program."""
    if callbacks is None:
        return ()
    listed = list(callbacks) if isinstance(callbacks, (list, tuple, set)) else [callbacks]
    for callback in listed:
        kind = callback if isinstance(callback, type) else type(callback)
        program = kind.__module__.partition(".")[0]
        if program in ("lightgbm", "xgboost", "catboost", "optuna_integration", "optuna"):
            instead = _CALLBACKS.get(kind.__name__)
            use = f"use {instead}" if instead else "write a function that takes a Round"
            raise checks.InputError(
                f"callbacks: {kind.__name__.strip('_')} belongs to {program} and can't read our rounds; {use}, see "
                "docs/training.md."
            )
        if isinstance(callback, type):
            raise checks.InputError(
                f"callbacks: {kind.__name__} is a class, give an object: {kind.__name__}()."
            )
        if not callable(callback):
            raise checks.InputError(
                f"callbacks must be functions that take a Round, got {type(callback).__name__}."
            )
    return listed
