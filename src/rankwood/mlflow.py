"""Models in MLflow: saved, logged and loaded as `pyfunc`, without pickle.

MLflow keeps the model file that `Ranker.save` writes, and imports this module to read it. It needs the extra `mlflow`.
"""

import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankwood._core import checks
from rankwood._core.versions import version_of
from rankwood._version import __version__
from rankwood.callbacks.trackers import LONGEST, need, plain
from rankwood.data.frames import column_names, is_frame
from rankwood.training.loading import load_estimator, models_of
from rankwood.training.origin import PACKAGES
from rankwood.training.summary import curves_of

__all__ = ["load_model", "log_model", "log_training", "save_model", "signature_of"]

_FILE = "model.json"
_QUERY = "qid"  # the column, or the parameter, that has the queries
_SIZES = "group"
_BATCH = 1000  # metrics that MLflow takes at once


def save_model(ranker: Any, path: str | Path, **options: Any) -> None:
    """Save a fitted model as a folder that MLflow can load, serve and register.

    Parameters
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        The fitted model.
    path : str or Path
        The folder; it must not exist.
    **options
        Further arguments of ``mlflow.pyfunc.save_model``, such as `input_example` and `metadata`. The signature and the
        requirements are those of the model unless they are given.

    Raises
    ------
    InputError
        If mlflow is not installed, or the model is not one of ours.

    Examples
    --------
    >>> import rankwood as rw
    >>> import rankwood.mlflow
    >>> ranker = rw.Ranker(n_estimators=3).fit(rw.load_demo("train"))
    >>> rw.mlflow.save_model(ranker, "served")  # doctest: +SKIP
    """
    _store(ranker, _pyfunc().save_model, {**options, "path": str(path)})


def log_model(ranker: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted model to the active run of MLflow; MLflow starts one if there is none.

    Parameters
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        The fitted model.
    name : str
        The name of the model in MLflow.
    **options
        Further arguments of ``mlflow.pyfunc.log_model``, such as `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its `model_uri` is what `load_model` takes.

    Raises
    ------
    InputError
        As in `save_model`.

    Examples
    --------
    >>> import rankwood as rw
    >>> import rankwood.mlflow
    >>> ranker = rw.Ranker(n_estimators=3).fit(rw.load_demo("train"))
    >>> rw.mlflow.log_model(ranker).model_uri  # doctest: +SKIP
    """
    return _store(ranker, _pyfunc().log_model, {**options, "name": name})


def load_model(model_uri: str) -> Any:
    """Return the ranker of a model that `save_model` or `log_model` stored.

    ``mlflow.pyfunc.load_model`` returns MLflow's own wrapper instead, which checks the signature.

    Parameters
    ----------
    model_uri : str
        A folder, or an address such as ``"models:/search/3"`` or ``"runs:/<id>/model"``.

    Returns
    -------
    Ranker, NeuralRanker or TwoStage
        The fitted model; it predicts the same bits.

    Raises
    ------
    InputError
        If the model is none of ours, or is damaged.

    Examples
    --------
    >>> import rankwood as rw
    >>> import rankwood.mlflow
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> rankwood.mlflow.save_model(ranker, "stored")
    >>> rankwood.mlflow.load_model("stored").best_iteration_
    3
    """
    mlflow = _mlflow()
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri)))
    flavour = mlflow.models.Model.load(str(folder)).flavors.get("python_function", {})
    if flavour.get("loader_module") != __name__:
        raise checks.InputError(
            f"{model_uri} is not a model that rankwood.mlflow saved: load it with mlflow.pyfunc.load_model."
        )
    return load_estimator(folder / flavour["data"])


def log_training(ranker: Any, run_id: str | None = None) -> None:
    """Log the parameters, the metrics of each round and the seconds of a model that is trained already.

    Names are those of the callback `rankwood.callbacks.MLflow`, which logs while a model is trained.

    Parameters
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        The fitted model.
    run_id : str, optional
        A run to log to, in place of the active one. MLflow starts a run if there is none.

    Raises
    ------
    InputError
        If mlflow is not installed.

    Examples
    --------
    >>> import rankwood as rw
    >>> import rankwood.mlflow
    >>> ranker = rw.Ranker(n_estimators=3).fit(rw.load_demo("train"), valid=rw.load_demo("valid"))
    >>> rw.mlflow.log_training(ranker)  # doctest: +SKIP
    """
    _check_fitted(ranker)
    mlflow = _mlflow()
    stages = _stages(ranker)
    params = {
        (f"{stage}." if stage else "") + name: str(value)[:LONGEST]
        for stage, fold, one in stages
        if fold in (None, 1)  # all folds have the same parameters
        for name, value in (one.get_params(deep=False) | getattr(one, "chosen_", {})).items()
    }
    now = int(1000 * time.time())
    metric = mlflow.entities.Metric
    rows = [
        metric(name, float(value), now, step)
        for stage, fold, one in stages
        for name, values in _curves(stage, fold, one).items()
        for step, value in enumerate(values, 1)
    ]
    spent = getattr(ranker, "seconds_", {})
    rows += [metric(f"seconds/{plain(step)}", float(s), now, 0) for step, s in spent.items()]
    mlflow.log_params(params, **({} if run_id is None else {"run_id": run_id}))
    run = run_id or mlflow.active_run().info.run_id
    for start in range(0, len(rows), _BATCH):
        mlflow.MlflowClient().log_batch(run, metrics=rows[start : start + _BATCH])


def signature_of(ranker: Any) -> Any:
    """Return what a model takes and returns, as MLflow describes it.

    Parameters
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        The fitted model.

    Returns
    -------
    mlflow.models.ModelSignature
        Features with names are columns of doubles, of any type if they are categorical; features without names are a
        matrix. A model that compares the documents of a query has the queries too: a column ``qid``, or with a matrix
        the parameter ``group``, the sizes of consecutive queries. The output is a score per row.

    Examples
    --------
    >>> import rankwood as rw
    >>> import rankwood.mlflow
    >>> ranker = rw.Ranker(n_estimators=3).fit(rw.load_demo("train"))
    >>> rw.mlflow.signature_of(ranker).inputs.input_types()  # doctest: +SKIP
    """
    _check_fitted(ranker)
    _mlflow()
    import numpy as np
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema, TensorSpec
    from mlflow.types.schema import AnyType

    output = Schema([TensorSpec(np.dtype(np.float64), (-1,))])
    names, params = ranker._feature_names(), None
    if names is None:
        inputs = Schema([TensorSpec(np.dtype(np.float64), (-1, ranker.n_features_in_))])
        if _needs_queries(ranker):
            params = ParamSchema([ParamSpec(_SIZES, DataType.long, [], (-1,))])
    else:
        categories = getattr(ranker, "categories_", {})
        kinds = {n: AnyType() if n in categories else DataType.double for n in names}
        columns = [ColSpec(kind, name) for name, kind in kinds.items()]
        inputs = Schema(columns + [ColSpec(AnyType(), _QUERY)] * _needs_queries(ranker))
    return ModelSignature(inputs=inputs, outputs=output, params=params)


class _Served:
    """What MLflow calls: a model whose queries are a column or a parameter."""

    def __init__(self, ranker: Any) -> None:
        self.ranker = ranker

    def predict(self, X: Any, params: dict[str, Any] | None = None) -> Any:
        """Return one score per row."""
        sizes = (params or {}).get(_SIZES)
        if sizes is not None and len(sizes):
            return self.ranker.predict(X, group=sizes)
        names = self.ranker._feature_names() or []
        if is_frame(X) and _QUERY in column_names(X) and _QUERY not in names:
            return self.ranker.predict(X, qid=_QUERY)
        return self.ranker.predict(X)


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Served:
    """Return the model of a file; MLflow calls this."""
    return _Served(load_estimator(path))


def _check_fitted(ranker: Any) -> None:
    """Raise unless a model is one of ours, and trained."""
    if not hasattr(ranker, "_files") or not hasattr(ranker, "n_features_in_"):
        raise checks.InputError(
            f"expected a fitted Ranker, NeuralRanker or TwoStage, got {type(ranker).__name__}"
            + (" that isn't fitted." if hasattr(ranker, "_files") else ".")
        )


def _store(ranker: Any, store: Any, options: dict[str, Any]) -> Any:
    """Write a model to a file, and hand that to MLflow."""
    _check_fitted(ranker)
    own = {"signature": signature_of(ranker), "pip_requirements": _requirements(ranker)}
    with TemporaryDirectory() as folder:
        file = Path(folder) / _FILE
        ranker.save(file)
        with warnings.catch_warnings():
            # The signature is ours, and needs no example.
            warnings.filterwarnings("ignore", message=".*input example was not provided")
            return store(loader_module=__name__, data_path=str(file), **{**own, **options})


def _requirements(ranker: Any) -> list[str]:
    """Return the packages that predict as this process does: Rankwood and the engines of the model."""
    used = {PACKAGES[one.engine] for one in models_of(ranker)} - {""}
    used |= {"safetensors"} if "torch" in used else set()
    known = {name: version_of(name) for name in sorted(used)}
    return [f"rankwood=={__version__}", *(f"{n}=={v}" if v else n for n, v in known.items())]


def _needs_queries(ranker: Any) -> bool:
    return hasattr(ranker, "second_") or bool(ranker.model_.needs_groups)


def _stages(ranker: Any) -> list[tuple[str, int | None, Any]]:
    """Return stage, fold and ranker of each model of an estimator, as callbacks see them."""
    if not hasattr(ranker, "second_"):
        return [("", None, ranker)]
    several = len(ranker.first_) > 1
    first = [("first", i if several else None, one) for i, one in enumerate(ranker.first_, 1)]
    return [*first, ("second", None, ranker.second_)]


def _curves(stage: str, fold: int | None, ranker: Any) -> dict[str, Any]:
    """Return the validation metrics by round, under the names that the callback has."""
    place = [stage] * bool(stage) + [f"fold{fold}"] * (fold is not None)
    return {
        "/".join(
            plain(word) for word in (*place, curve.part or "valid", curve.metric)
        ): curve.values
        for curve in curves_of(getattr(ranker, "history_", {}))
    }


def _mlflow() -> Any:
    return need("mlflow", "rankwood.mlflow", "'rankwood[mlflow]'")


def _pyfunc() -> Any:
    _mlflow()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow warns about its own classes when it is imported
        return need("mlflow.pyfunc", "rankwood.mlflow", "'rankwood[mlflow]'")
