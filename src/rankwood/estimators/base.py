"""What the estimators, `Ranker`, `NeuralRanker` and `TwoStage`, share."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankwood._util import checks
from rankwood._util.envelope import read_content, write_content
from rankwood.data.source import Source
from rankwood.data.tables.frames import is_lazy
from rankwood.estimators import foreign_arguments, query_splits
from rankwood.estimators.after_training import AfterTraining
from rankwood.estimators.sources import ReadingOptions, check_trainable, is_streamed, local_data
from rankwood.fit.arguments import FitArguments, training_data
from rankwood.fit.context import FitContext, close_callbacks
from rankwood.fit.data_warnings import warn_about_data, warn_about_unread_pairs
from rankwood.fit.files.checkpoint import as_checkpoint
from rankwood.fit.files.model_file import explaining_values
from rankwood.fit.validation import ValidationSets, validation_sets
from rankwood.metrics.evaluate import evaluate, named_metrics
from rankwood.metrics.verbs import higher_is_better

# Labels and query ids may be columns of a table, by name.
Labels: TypeAlias = ArrayLike | str | None
QueryIds: TypeAlias = ArrayLike | str | None
Sizes: TypeAlias = ArrayLike | None


class RankingEstimator(AfterTraining, BaseEstimator, ABC):
    """A scikit-learn estimator of rankings; subclasses add `predict` and what is declared here."""

    #: The class that files name; it is the same for subclasses that users define.
    _kind: ClassVar[str]

    @abstractmethod
    def _fit(self, train: Any, valid: ValidationSets | None, context: FitContext = ...) -> None:
        """Train a model on a source, and keep its result."""

    @abstractmethod
    def _check(self, unlisted: bool) -> None:
        """Raise unless the parameters make sense; `unlisted`: queries have documents that are not in the lists."""

    def _check_columns(self, data: Source) -> None:
        """Raise unless data has the features that parameters refer to."""

    @abstractmethod
    def _check_streamed(self) -> None:
        """Raise unless the estimator trains on files that don't fit in memory."""

    @abstractmethod
    def _fit_on_cluster(self, placed: Any, context: FitContext) -> None:
        """Train on the workers of a cluster."""

    @abstractmethod
    def _score_metric(self) -> Any:
        """Return the metrics; the mean of the first one is the score."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return the fitted estimator as an object for JSON."""

    @abstractmethod
    def _fill(self, content: Any, path: str | Path) -> None:
        """Set parameters and fitted attributes to those of an object that `_content` returned."""

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
        **others: Any,
    ) -> Self:
        """Train a model. After an interrupt, the trees grown so far are the model; in `TwoStage`, of the second stage.

        Parameters
        ----------
        X, y, qid, group, weight, sample_weight : RankingData, matrix or table, and arrays
            A `RankingData` alone, or what makes one: features, labels, query ids (or sizes of consecutive queries), a
            weight per query, and a weight per row. `y`, `qid` and `sample_weight` may be names of columns of a table,
            which then aren't features. Files that don't fit in memory: `rankwood.stream_files`, or names
            of files with ``stream=True``. A cluster: a Dask DataFrame or array, or `rankwood.on_cluster`.
        valid : RankingData, (X, y, qid), table, or dict of them, optional
            Data to evaluate after each round, for early stopping; in `TwoStage`, of both stages. A table has labels and
            queries in the columns that `y` and `qid` name. Several sets have names, in a dictionary or a list of pairs
            (name, set): all are evaluated, and the first one decides.
        callbacks : list of callables, optional
            Called after each round with a `rankwood.callbacks.Round`; training ends if one returns True.
            `rankwood.callbacks` has ready ones, and docs/training.md explains them.
        checkpoint : path or Checkpoint, optional
            A file from which a killed run resumes bit-identically: training starts and writes it, or resumes if it
            exists. `rankwood.Checkpoint` says how often it is written; docs/checkpoints.md explains it.
        **others
            What X is: ``stream=True`` for names of files; ``cluster`` (a ``distributed.Client``, or a number of local
            processes), ``shuffle_parts`` and ``retries``, which `rankwood.on_cluster` explains. Arguments of other
            programs work too: ``eval_set`` with ``eval_qid`` or ``eval_group``, ``group_id``; for those that belong
            elsewhere, the error message names the place.

        Returns
        -------
        Ranker, NeuralRanker or TwoStage
            The estimator itself.

        Raises
        ------
        InputError
            If parameters or data can't be used. Before the first round, the estimator then stays as it was.

        Warns
        -----
        DataWarning
            If the data looks as if something went wrong before: see `rankwood.DataWarning`.
        """
        from rankwood.cluster.arguments import on_workers

        arguments = FitArguments(X, y, qid, group, weight, sample_weight, valid)
        arguments, source_words = foreign_arguments.fit_arguments(arguments, others, self)
        callables = foreign_arguments.check_callbacks(callbacks)
        file = None if checkpoint is None else as_checkpoint(checkpoint)
        context = FitContext(callbacks=callables, checkpoint=file)
        try:
            placed = on_workers(arguments, source_words)
            if placed is not None:
                self._fit_on_cluster(placed, context)
            else:
                self._fit_here(arguments, source_words.stream, context)
        finally:
            close_callbacks(callables)
        return self

    def _fit_here(self, arguments: FitArguments, stream: bool, context: FitContext) -> None:
        """Train on this machine."""
        if is_streamed(arguments, stream):
            self._check_streamed()
        reading = ReadingOptions(getattr(self, "n_jobs", None), getattr(self, "verbose", None))
        train, valid = local_data(arguments, stream, reading)
        check_trainable(train)
        query_splits.remember(self, train)
        sets = validation_sets(valid, train)
        warn_about_data(train, sets, getattr(self, "shuffle", True), getattr(self, "n_jobs", 1))
        if train.pairs is not None and hasattr(self, "objective"):
            warn_about_unread_pairs(self.objective)
        self._fit(train, sets, context)

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
                "score counts every query the same, and metrics of rankings have no weights of documents: omit "
                "sample_weight."
            )
        metric = next(iter(named_metrics(self._score_metric()).values()))
        if is_lazy(X):
            from rankwood.cluster.scoring import lazy_mean  # Dask's collections come with Dask

            mean = lazy_mean(metric, X, y, self.predict(X, qid=qid), qid)
            return mean if higher_is_better(metric) else -mean
        data = training_data(FitArguments(X, y, qid, group), "score")
        query_splits.check_whole_queries(self, data)
        scores = self.predict(data)
        (mean,) = (
            evaluate(metric, data, scores, n_jobs=getattr(self, "n_jobs", None)).mean().values()
        )
        return mean if higher_is_better(metric) else -mean

    def _set_n_jobs(self, n_jobs: int | None) -> None:
        """Set the number of threads that predictions use, of every model."""
        self.set_params(n_jobs=n_jobs)

    def _save_with(self, path: str | Path, letor: dict[str, Any]) -> None:
        """Write the fitted estimator to a file, with how the LETOR files of its training data were read."""
        content = self._content()
        write_content({**content, "letor": letor or content["letor"]}, path, self._kind)

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
        write_content(self._content(), path, self._kind)

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
            A fitted estimator with the same parameters; its predictions are bit-identical.

        Raises
        ------
        InputError
            If the file can't be read, is damaged, or holds something else.
        """
        estimator = cls()
        content = read_content(path, cls._kind)
        with explaining_values(path):
            estimator._fill(content, path)
        return estimator
