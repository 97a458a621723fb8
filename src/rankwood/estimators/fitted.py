"""The fitted attributes of estimators: properties that read the result of the last fit."""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from rankwood.data.tables.schema import Schema
from rankwood.engines.base import Model
from rankwood.fit.files.model_file import content_of
from rankwood.fit.result import DataSize, FitResult, Origin, flat_history


class TrainedFacts(NamedTuple):
    """What is known of training data: its features, its size, and its origin."""

    schema: Schema
    data_size: DataSize | None
    origin: Origin | None


class TrainedOn:
    """What an estimator knows of its training data; subclasses say where it is kept."""

    def _facts(self) -> TrainedFacts:
        """Return what is known; an AttributeError says that the estimator isn't fitted."""
        raise AttributeError("the estimator isn't fitted")

    @property
    def _schema(self) -> Schema:
        return self._facts().schema

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return self._schema.n_features

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, if they have any."""
        if not self._schema.names:
            raise AttributeError("the features have no names")
        return np.array(self._schema.names, dtype=object)

    @property
    def categories_(self) -> dict[str, Any]:
        """Values of categorical features by name."""
        return dict(self._schema.categories)

    @property
    def data_size_(self) -> dict[str, int]:
        """Numbers of queries and documents of the training data; files of 0.1 don't know them."""
        size = self._facts().data_size
        if size is None:
            raise AttributeError("the size of the training data isn't known")
        return size._asdict()

    @property
    def origin_(self) -> dict[str, Any]:
        """A digest of the training data, and the versions of the programs; files of 0.1 don't know them."""
        origin = self._facts().origin
        if origin is None:
            raise AttributeError("the origin of the model isn't known")
        return {"fingerprint": origin.fingerprint, "versions": dict(origin.versions)}

    def _feature_names(self) -> list[str] | None:
        """Return the names of the features that were trained on, or None if they have no names."""
        return self._schema.names


class SingleModel(TrainedOn):
    """The attributes of an estimator with one model."""

    #: The result of the last fit.
    result_: FitResult

    def _facts(self) -> TrainedFacts:
        result = self.result_
        return TrainedFacts(result.schema, result.data_size, result.origin)

    def _set_result(self, result: FitResult) -> None:
        """Keep the result of a fit."""
        self.result_ = result

    def _with_result(self, result: FitResult) -> Self:
        """Return a copy that has another result."""
        other: Self = clone(self)
        other._set_result(result)
        return other

    def _content(self) -> dict[str, Any]:
        """Return what a file holds: the parameters are those of the fit, whatever was set since."""
        return content_of(self.result_)

    def _score_metric(self) -> Any:
        return self.eval_metric  # type: ignore[attr-defined]

    @property
    def model_(self) -> Model:
        """The model, which predicts."""
        return self.result_.model

    @property
    def best_iteration_(self) -> int:
        """The rounds of the model."""
        return self.result_.rounds

    @property
    def history_(self) -> dict[str, list[float]]:
        """Validation metrics by round; names of further sets stand before their metrics."""
        return flat_history(self.result_.history)

    @property
    def validation_sets_(self) -> list[str]:
        """Names of the validation sets; the first one decides early stopping."""
        return self.result_.sets

    @property
    def seconds_(self) -> dict[str, float]:
        """Time spent, by step."""
        return dict(self.result_.seconds)

    @property
    def objective_(self) -> Any:
        """The objective as a composition."""
        return self.result_.settings.objective

    @property
    def record_(self) -> dict[str, list[float]]:
        """What `record` asked for, by name and round."""
        return {name: list(curve) for name, curve in self.result_.curves.items()}

    @property
    def resumed_after_(self) -> int:
        """Rounds of an earlier run, from a checkpoint or a warm start, that this one resumed after."""
        return self.result_.resumed_after

    @property
    def chosen_(self) -> dict[str, Any]:
        """Values of the parameters that were left open."""
        return dict(self.result_.settings.chosen)

    @property
    def letor_(self) -> dict[str, Any]:
        """How the command line read LETOR files."""
        if not self.result_.letor:
            raise AttributeError("the model wasn't trained by the command line")
        return dict(self.result_.letor)
