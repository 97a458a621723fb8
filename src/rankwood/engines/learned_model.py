"""Models of registered learners: a few arrays, and scores that are a function of them and of the features."""

import json
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.engines import _parameters

#: Kinds of arrays that a file can hold: floats, whole numbers, booleans.
_KINDS = "fiub"
#: Bytes of the largest number that a file can hold.
_LARGEST = 8


class LearnedModel(ABC):
    """A model of a learner of your own: a few arrays, and a function of them and of the features.

    A subclass defines `scores`. Files hold the arrays; numbers are read bit-identically.

    Parameters
    ----------
    n_features : int
        Number of features.
    **arrays
        All that the model has learned; each array is an attribute of its name, and can't be changed.

    Examples
    --------
    >>> from rankwood.extend import LearnedModel
    >>> class Sum(LearnedModel):
    ...     def scores(self, X):
    ...         return X.sum(axis=1) * self.factor
    >>> Sum(2, factor=2.0).predict([[1, 2], [3, 4]]).tolist()
    [6.0, 14.0]
    """

    #: Scores of documents don't depend on the other documents of a query.
    needs_groups = False

    def __init__(self, n_features: int, **arrays: Any) -> None:
        self.n_features = n_features
        self._names = tuple(arrays)
        for name, values in arrays.items():
            if hasattr(LearnedModel, name) or name == "_names":
                raise checks.InputError(
                    f"every model has {name!r} already, so no array of {type(self).__name__} can have this name: "
                    "choose another one."
                )
            array = np.array(values)
            if array.dtype.kind not in _KINDS or array.dtype.itemsize > _LARGEST:
                raise checks.InputError(f"{name} must be an array of numbers, got {array.dtype}.")
            array.setflags(write=False)
            setattr(self, name, array)

    def __getattr__(self, name: str) -> np.ndarray:
        """Say what there is; arrays are attributes, so that this is called for other names only."""
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    @abstractmethod
    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per row: the higher, the better.

        Parameters
        ----------
        X : array of float64, of shape (n_documents, n_features)
            Features, row by row in memory; missing values are NaN.

        Returns
        -------
        array
            The scores.
        """

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row, of any matrix.

        Parameters
        ----------
        X : matrix
            Features, dense or sparse.
        groups, n_jobs
            Queries and number of threads, which most models don't need.

        Returns
        -------
        array of float64
            The scores.
        """
        matrix = plain_matrix(X)
        scores = np.asarray(self.scores(matrix), dtype=np.float64)
        if scores.shape != (len(matrix),):
            raise checks.InputError(
                f"scores of {type(self).__name__} must return one number per row, an array of shape ({len(matrix)},), "
                f"got shape {scores.shape}."
            )
        return scores

    def importances(self) -> np.ndarray | None:
        """Return how much each feature matters, as numbers that aren't negative.

        Returns
        -------
        array or None
            One number per feature; None, the default, if the model doesn't know.
        """
        return None

    def content(self) -> dict[str, Any]:
        """Return what a file holds of the model.

        Returns
        -------
        dict
            An object for JSON.
        """
        arrays = {name: getattr(self, name) for name in self._names}
        held = {
            name: {"dtype": a.dtype.str, "shape": a.shape, "values": a.ravel().tolist()}
            for name, a in arrays.items()
        }
        return {"model": json.dumps({"n_features": self.n_features, "arrays": held})}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the model that a file holds.

        Parameters
        ----------
        text : str
            The field ``"model"`` of `content`.

        Returns
        -------
        LearnedModel
            The model.
        """
        held = json.loads(text)
        arrays = {
            name: np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
            for name, value in held["arrays"].items()
        }
        return cls(int(held["n_features"]), **arrays)


def plain_matrix(X: Any) -> np.ndarray:
    """Return features as float64, row by row in memory: sums over a row don't depend on the layout of X then."""
    return np.ascontiguousarray(_parameters.dense(X), dtype=np.float64)


def text_of(model: LearnedModel) -> str:
    """Return the text of a model, as files hold it."""
    return str(model.content()["model"])
