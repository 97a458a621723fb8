"""Models in MLflow: saved, logged and loaded as `pyfunc`, without pickle.

MLflow keeps the model file that `Ranker.save` writes, and imports this module to read it. It needs the extra `mlflow`.
"""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sklearn.base import BaseEstimator

from rankwood._util import checks
from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.data.tables.frames import column_names, is_frame
from rankwood.estimators.base import RankingEstimator
from rankwood.estimators.loading import load_estimator
from rankwood.fit.callbacks.trackers import LONGEST, need, plain
from rankwood.fit.origin import package_of
from rankwood.fit.result import FitResult, Result, StagesResult

if TYPE_CHECKING:
    from rankwood.estimators.neural_ranker import NeuralRanker
    from rankwood.estimators.ranker import Ranker
    from rankwood.estimators.two_stage.estimator import TwoStage

__all__ = ["load_model", "log_model", "log_training", "save_model", "signature_of"]

#: The models that MLflow keeps.
StoredRanker: TypeAlias = "Ranker | NeuralRanker | TwoStage"

_FILE = "model.json"
_QUERY = "qid"  # the column, or the parameter, that has the queries
_SIZES = "group"
_BATCH = 1000  # metrics that MLflow takes at once


def save_model(ranker: StoredRanker, path: str | Path, **options: Any) -> None:
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


def log_model(ranker: StoredRanker, name: str = "model", **options: Any) -> Any:
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
        The fitted model; its predictions are bit-identical.

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


def log_training(ranker: StoredRanker, run_id: str | None = None) -> None:
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
    result = _result_of(ranker)
    mlflow = _mlflow()
    stages = _stages(ranker)
    params = {
        (f"{stage.name}." if stage.name else "") + name: str(value)[:LONGEST]
        for stage in stages
        if stage.fold in (None, 1)  # all folds have the same parameters
        for name, value in stage.params.items()
    }
    now = int(1000 * time.time())
    metric = mlflow.entities.Metric
    rows = [
        metric(name, float(value), now, step)
        for stage in stages
        for name, values in stage.curves().items()
        for step, value in enumerate(values, 1)
    ]
    spent = result.seconds.items()
    rows += [metric(f"seconds/{plain(step)}", float(seconds), now, 0) for step, seconds in spent]
    mlflow.log_params(params, **({} if run_id is None else {"run_id": run_id}))
    run = run_id or mlflow.active_run().info.run_id
    for start in range(0, len(rows), _BATCH):
        mlflow.MlflowClient().log_batch(run, metrics=rows[start : start + _BATCH])


def signature_of(ranker: StoredRanker) -> Any:
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
    result = _result_of(ranker)
    _mlflow()
    import numpy as np
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema, TensorSpec
    from mlflow.types.schema import AnyType

    output = Schema([TensorSpec(np.dtype(np.float64), (-1,))])
    features, params = result.schema, None
    if features.names is None:
        inputs = Schema([TensorSpec(np.dtype(np.float64), (-1, features.n_features))])
        if _needs_queries(result):
            params = ParamSchema([ParamSpec(_SIZES, DataType.long, [], (-1,))])
    else:
        kinds = {
            name: AnyType() if name in features.categories else DataType.double
            for name in features.names
        }
        columns = [ColSpec(kind, name) for name, kind in kinds.items()]
        inputs = Schema(columns + [ColSpec(AnyType(), _QUERY)] * _needs_queries(result))
    return ModelSignature(inputs=inputs, outputs=output, params=params)


class _Served:
    """What MLflow calls: a model whose queries are a column or a parameter."""

    def __init__(self, ranker: StoredRanker) -> None:
        self.ranker = ranker

    def predict(self, X: Any, params: dict[str, Any] | None = None) -> Any:
        """Return one score per row."""
        sizes = (params or {}).get(_SIZES)
        if sizes is not None and len(sizes):
            return self.ranker.predict(X, group=sizes)
        names = self.ranker.result_.schema.names or []
        if is_frame(X) and _QUERY in column_names(X) and _QUERY not in names:
            return self.ranker.predict(X, qid=_QUERY)
        return self.ranker.predict(X)


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Served:
    """Return the model of a file; MLflow calls this."""
    return _Served(load_estimator(path))


def _result_of(ranker: object) -> Result:
    """Return the result of a model; raise unless it is one of ours, and trained."""
    result = getattr(ranker, "result_", None)
    if not isinstance(result, (FitResult, StagesResult)):
        raise checks.InputError(
            f"expected a fitted Ranker, NeuralRanker or TwoStage, got {type(ranker).__name__}"
            + (" that isn't fitted." if isinstance(ranker, RankingEstimator) else ".")
        )
    return result


def _store(ranker: StoredRanker, store: Any, options: dict[str, Any]) -> Any:
    """Write a model to a file, and hand that to MLflow."""
    requirements = _requirements(_result_of(ranker))
    described = {"signature": signature_of(ranker), "pip_requirements": requirements}
    with TemporaryDirectory() as folder:
        file = Path(folder) / _FILE
        ranker.save(file)
        with warnings.catch_warnings():
            # The signature is ours, and needs no example.
            warnings.filterwarnings("ignore", message=".*input example was not provided")
            return store(loader_module=__name__, data_path=str(file), **{**described, **options})


def _requirements(result: Result) -> list[str]:
    """Return the packages that predict as this process does: Rankwood and the engines of the model."""
    used = {package_of(model.result.settings.learner) for model in result.models()} - {""}
    used |= {"safetensors"} if "torch" in used else set()
    versions = {name: version_of(name) for name in sorted(used)}
    return [f"rankwood=={__version__}", *(f"{n}=={v}" if v else n for n, v in versions.items())]


def _needs_queries(result: Result) -> bool:
    return isinstance(result, StagesResult) or bool(result.model.needs_groups)


class _LoggedStage(NamedTuple):
    """A model of an estimator, as callbacks see it; it has no result if it isn't ours."""

    name: str
    fold: int | None
    params: dict[str, Any]
    result: FitResult | None

    def curves(self) -> dict[str, Sequence[float]]:
        """Return the validation metrics by round, under the names that the callback has."""
        if self.result is None:
            return {}
        place = [self.name] * bool(self.name) + [f"fold{self.fold}"] * (self.fold is not None)
        return {
            "/".join(plain(word) for word in (*place, part or "valid", metric)): values
            for part, metrics in self.result.history.items()
            for metric, values in metrics.items()
        }


def _stages(ranker: StoredRanker) -> list[_LoggedStage]:
    """Return the models of an estimator."""
    result = ranker.result_
    if isinstance(result, FitResult):
        return [_logged("", None, ranker, result)]
    several = len(result.first) > 1
    folds = enumerate(zip(ranker.first_, result.first, strict=True), 1)
    first = [_logged("first", i if several else None, *model) for i, model in folds]
    return [*first, _logged("second", None, ranker.second_, result.second)]


def _logged(
    stage: str, fold: int | None, model: BaseEstimator, result: FitResult | None
) -> _LoggedStage:
    """Return one model with its parameters; those that were left open have the values that training used."""
    chosen = {} if result is None else result.settings.chosen
    return _LoggedStage(stage, fold, {**model.get_params(deep=False), **chosen}, result)


def _mlflow() -> Any:
    return need("mlflow", "rankwood.mlflow", "'rankwood[mlflow]'")


def _pyfunc() -> Any:
    _mlflow()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow warns about its own classes when it is imported
        return need("mlflow.pyfunc", "rankwood.mlflow", "'rankwood[mlflow]'")
