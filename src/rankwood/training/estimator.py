"""What the estimators, `Ranker`, `NeuralRanker` and `TwoStage`, share."""

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.categories import Categories
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.metrics.evaluate import evaluate, named_metrics
from rankwood.metrics.verbs import higher_is_better
from rankwood.training import model_file, query_splits, spellings, streaming
from rankwood.training.after_training import AfterTraining
from rankwood.training.checkpoint import as_checkpoint
from rankwood.training.context import FitContext, close_callbacks
from rankwood.training.data_warnings import warn_about_data
from rankwood.training.inputs import check_trainable, training_data, validation_sets

# Labels and query ids may be columns of a table, by name.
Labels: TypeAlias = ArrayLike | str | None
QueryIds: TypeAlias = ArrayLike | str | None
Sizes: TypeAlias = ArrayLike | None


#: Modules of the classes that files name.
_CLASSES = {
    "Ranker": "rankwood.training.ranker",
    "NeuralRanker": "rankwood.neural.ranker",
    "TwoStage": "rankwood.training.two_stage",
}


def estimator_class(kind: str) -> Any:
    """Return the class that files name, or raise if there is none."""
    if kind not in _CLASSES:
        raise checks.InputError(f"unknown kind of model {kind!r}{checks.nearest(kind, _CLASSES)}")
    return getattr(import_module(_CLASSES[kind]), kind)


class RankingEstimator(AfterTraining, BaseEstimator, ABC):
    """A scikit-learn estimator of rankings; subclasses add `predict` and what is declared here."""

    #: The class that files name; it is the same for subclasses that users define.
    _kind: ClassVar[str]
    #: Module with `content_of(estimator)`, an object for JSON, and `fill(estimator, content, path)`.
    _files: ClassVar[ModuleType]

    @abstractmethod
    def _fit(self, train: RankingData, valid: Any, context: FitContext = ...) -> None:
        """Train a model; `valid` is what `fit` was given, or its sets by name."""

    @abstractmethod
    def _check(self, unlisted: bool) -> None:
        """Raise unless the parameters make sense; `unlisted`: queries have documents that are not in the lists."""

    def _check_columns(self, data: RankingData) -> None:
        """Raise unless data has the features that parameters refer to."""

    @abstractmethod
    def _score_metric(self) -> Any:
        """Return the metrics; the mean of the first one is the score."""

    # Metadata that scikit-learn passes on to these methods, if its metadata routing is switched on.
    __metadata_request__fit: ClassVar = dict.fromkeys(
        ("qid", "group", "weight", "sample_weight", "valid", "callbacks"), True
    )
    __metadata_request__predict: ClassVar = {"qid": True, "group": True}
    __metadata_request__score: ClassVar = {"qid": True, "group": True}

    def fit(
        self,
        X: Any,
        y: Labels = None,
        *,
        qid: QueryIds = None,
        group: Sizes = None,
        weight: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        valid: Any = None,
        callbacks: Any = (),
        checkpoint: Any = None,
        stream: bool = False,
        cluster: Any = None,
        shuffle_parts: bool = False,
        retries: int = 0,
        **others: Any,
    ) -> Self:
        """Train a model. After an interrupt, the trees grown so far are the model; in `TwoStage`, of the second stage.

        Parameters
        ----------
        X, y, qid, group, weight, sample_weight : RankingData, matrix or table, and arrays
            A `RankingData` alone, or what makes one: features, labels, query ids (or sizes of consecutive queries), a
            weight per query, and a weight per row.
        valid : RankingData, (X, y, qid), or dict of them, optional
            Data to evaluate after each round, for early stopping; in `TwoStage`, of both stages. Several sets have
            names, in a dictionary or a list of pairs (name, set): all are evaluated, and the first one decides.
        callbacks : list of callables, optional
            Called after each round with a `rankwood.callbacks.Round`; training ends if one returns True.
            `rankwood.callbacks` has ready ones, and docs/training.md explains them.
        checkpoint : path or Checkpoint, optional
            A file from which a killed run goes on with the same bits: training starts and writes it, or goes on if it
            is there. `rankwood.Checkpoint` says how often it is written; docs/checkpoints.md explains it.
        stream : bool
            Whether X is a list of files, LETOR or Parquet, whose features are never all in memory; y and qid are then
            columns of Parquet files. `valid` may be files too, or (files, y, qid). docs/streaming.md explains it.
        cluster : distributed.Client or int, optional
            Train on the workers of a Dask cluster, or on so many local processes. `X` is then a Dask DataFrame with
            the names of columns for `y` and `qid`, Dask arrays chunked alike, a list of LETOR files, or data as usual.
            Dask collections need no `cluster`: the current client's is used, or local processes.
        shuffle_parts : bool
            Bring the rows of a query together if they are in several partitions; otherwise that is an error.
        retries : int
            How often to start again if a worker of the cluster is lost; with a checkpoint, from its last round.
        **others
            Words of other programs: ``eval_set`` with ``eval_qid`` or ``eval_group``, ``group_id``; for those that
            belong elsewhere, an error names the place.

        Returns
        -------
        Ranker, NeuralRanker or TwoStage
            The estimator itself.

        Raises
        ------
        InputError
            If parameters or data can't be used. The estimator is then as it was before.

        Warns
        -----
        DataWarning
            If the data looks as if something went wrong before: see `rankwood.DataWarning`.
        """
        given = {"qid": qid, "group": group, "weight": weight, "valid": valid}
        given = spellings.fit_arguments(others, given, self)
        called = spellings.check_callbacks(callbacks)
        kept = None if checkpoint is None else as_checkpoint(checkpoint)
        if cluster is not None or hasattr(X, "__dask_graph__"):
            given |= {"X": X, "y": y, "sample_weight": sample_weight, "callbacks": called}
            given |= {"shuffle_parts": shuffle_parts, "retries": retries, "checkpoint": kept}
            given["stream"] = stream
            _fit_on_cluster()(self, given, cluster)
            return self
        if shuffle_parts or retries:
            name = "shuffle_parts" if shuffle_parts else "retries"
            raise checks.InputError(f"{name} is for clusters: give cluster= too, or leave it out.")
        train, valid = self._data_of_fit(X, y, {**given, "sample_weight": sample_weight}, stream)
        check_trainable(train)
        query_splits.remember(self, train)
        sets = validation_sets(valid, train)
        warn_about_data(train, sets, getattr(self, "shuffle", True), getattr(self, "n_jobs", 1))
        try:
            self._fit(train, sets, FitContext(callbacks=called, checkpoint=kept))
        finally:
            close_callbacks(called)
        return self

    def _data_of_fit(
        self, X: Any, y: Any, given: dict[str, Any], stream: bool
    ) -> tuple[RankingData, Any]:
        """Return the training data and what there is of validation data."""
        checks.one_of(stream, (True, False), "stream")
        valid, qid = given.pop("valid"), given.pop("qid")
        if not stream and not isinstance(X, StreamedData):
            streaming.refuse_names(X, valid)
            places = (qid, given["group"], given["weight"])
            return training_data(X, y, *places, "fit", given["sample_weight"]), valid
        streaming.check_can_stream(self)
        train = streaming.streamed_training(self, X, y, qid, given)
        return streaming.with_streamed_sets(self, train, valid, y, qid)

    def score(
        self,
        X: Any,
        y: Labels = None,
        *,
        qid: QueryIds = None,
        group: Sizes = None,
        sample_weight: None = None,
    ) -> float:
        """Return the mean of the metric that decides early stopping, for scikit-learn's model selection.

        The metric is the first `eval_metric`, in `TwoStage` that of the second stage.

        Parameters
        ----------
        X, y, qid, group : RankingData, matrix or table, and arrays
            A `RankingData` alone, or features, labels, and query ids or sizes of queries.
        sample_weight : None
            scikit-learn's Pipeline passes it. Every query counts the same, and a ranking has no weights of documents.

        Returns
        -------
        float
            The mean over queries; times -1 if lower is better, as scikit-learn maximises scores.

        Raises
        ------
        InputError
            If there are no labels or no queries, or if `sample_weight` is given; inside scikit-learn's model selection
            also if a query has documents in both the training and the test part.
        """
        if sample_weight is not None:
            raise checks.InputError(
                "score counts every query the same, and metrics of rankings have no weights of documents: leave out "
                "sample_weight."
            )
        if hasattr(X, "__dask_graph__"):
            return import_module("rankwood.distributed.scoring").score(self, X, y, qid)
        data = training_data(X, y, qid, group, None, "score")
        query_splits.check_whole_queries(self, data)
        metric = next(iter(named_metrics(self._score_metric()).values()))
        scores = self.predict(data)
        (mean,) = (
            evaluate(metric, data, scores, n_jobs=getattr(self, "n_jobs", None)).mean().values()
        )
        return mean if higher_is_better(metric) else -mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # trees have a side for missing values, networks an input
        return tags

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a file, as JSON: a header, parameters, and the text of its models.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced once the new one is complete.

        Raises
        ------
        InputError
            If the file can't be written, or if a stage is an estimator that isn't one of ours.
        """
        check_is_fitted(self)
        model_file.write_content(self._files.content_of(self), path, self._kind)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an estimator that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Ranker, NeuralRanker or TwoStage
            A fitted estimator with the same parameters; it predicts the same bits.

        Raises
        ------
        InputError
            If the file can't be read, is damaged, or holds something else.
        """
        estimator = cls()
        model_file.read_into(estimator, path)
        return estimator

    def _set_features(
        self, n_features: int, names: list[str] | None, categories: Categories | None = None
    ) -> None:
        """Set `n_features_in_`, `categories_`, and `feature_names_in_` if features have names."""
        self.n_features_in_ = n_features
        self.categories_ = categories or {}
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _feature_names(self) -> list[str] | None:
        """Return the names of the features that were trained on, or None if they have no names."""
        return list(getattr(self, "feature_names_in_", [])) or None


def _fit_on_cluster() -> Any:
    """Return what trains on a cluster, or raise if a package that it needs isn't installed."""
    try:
        return import_module("rankwood.distributed.fitting").fit
    except ModuleNotFoundError as error:
        raise checks.InputError(
            f"training on a cluster needs the package {error.name}: pip install 'rankwood[dask]'."
        ) from None
