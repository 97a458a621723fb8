"""RankingData: documents with features and labels, grouped by query."""

from copy import copy
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.comments import Comments
from rankwood.data.frames import column, is_frame, matrix
from rankwood.data.groups import Groups, group_rows
from rankwood.data.unlisted import Beyond, beyond_lists, beyond_rows


class RankingData:
    """Documents with features and labels, grouped by query; rows stay in the caller's order.

    Parameters
    ----------
    X : matrix
        Features: NumPy, SciPy sparse, pandas, Polars or Arrow. Missing values are NaN. A float32 or
        float64 matrix is used as it is, without a copy, and is never changed.
    y : array or str
        Labels, not negative; or the name of a column of X, which then is no feature.
    qid : array or str, optional
        Query id of each row: any type, any order, rows of a query need not be adjacent; or a column of X.
    group : array, optional
        Sizes of consecutive queries, in place of `qid`.
    weight : array, optional
        A positive weight of each query, in order of first appearance.
    feature_names : list of str, optional
        Taken from the columns of a table if not given.
    comments : sequence of str, optional
        A remark on each row, as the comments of a LETOR file.
    beyond : sequence of arrays, optional
        For each query, in order of first appearance, the labels of documents that belong to it and are not
        here, as after a cut. They are never ranked, but what is relevant is counted with them: the ideal of
        NDCG, in `evaluate` and in training, is that of the full list.

    Attributes
    ----------
    X, y, weight, feature_names, comments
        As given.
    beyond : Beyond or None
        Labels beyond the lists: `y`, and `ptr` as in `groups`.
    groups : Groups
        Rows by query: `ptr`, `rows`, `ids`.

    Examples
    --------
    >>> import rankwood as rw
    >>> data = rw.RankingData([[0.1], [0.7], [0.3]], [0, 2, 1], qid=["b", "a", "b"])
    >>> data
    RankingData(3 documents, 2 queries, 1 feature, labels 0 to 2)
    >>> data.groups.sizes.tolist()
    [2, 1]
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        weight: Any = None,
        feature_names: Any = None,
        comments: Any = None,
        beyond: Any = None,
    ) -> None:
        named = tuple(c for c in (y, qid) if isinstance(c, str))
        if named and not is_frame(X):
            raise checks.InputError(
                f"y and qid can name columns only if X is a table, got {named[0]!r}."
            )
        y = column(X, y) if isinstance(y, str) else y
        qid = column(X, qid) if isinstance(qid, str) else qid
        self.X, names = matrix(X, named)
        rows = self.X.shape[0]
        self.groups: Groups = group_rows(rows, qid, group)
        self.y: np.ndarray = checks.labels(y, rows)
        self.weight = None if weight is None else _weights(weight, self.groups.ids.size)
        self.feature_names = _names(
            names if feature_names is None else feature_names, self.X.shape[1]
        )
        if comments is not None and not isinstance(comments, Comments):
            comments = Comments.of(list(comments))
        if comments is not None and len(comments) != rows:
            raise checks.InputError(
                f"comments has {len(comments)} values, but there are {rows} rows."
            )
        self.comments: Comments | None = comments
        self.beyond: Beyond | None = (
            None if beyond is None else beyond_lists(beyond, self.groups.ids.size)
        )

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return (
            f"RankingData({_count(rows, 'document')}, {_count(self.groups.ids.size, 'query')}, "
            f"{_count(features, 'feature')}, labels {self.y.min():g} to {self.y.max():g})"
        )

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def qid(self) -> np.ndarray:
        """Query id of each row."""
        return self.groups.per_row(self.groups.ids)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def with_features(self, names: list[str]) -> "RankingData":
        """Return the same documents with these features, by name, in this order."""
        if self.feature_names is None or self.feature_names == names:
            return self
        missing = [n for n in names if n not in self.feature_names]
        if missing:
            raise lacking(missing[0], self.feature_names)
        other = copy(self)
        other.X = self.X[:, [self.feature_names.index(n) for n in names]]
        other.feature_names = list(names)
        return other

    def select(self, queries: Any) -> "RankingData":
        """Return the queries at these positions (or where a mask is true), rows in the caller's order."""
        keep = np.zeros(self.groups.ids.size, bool)
        try:
            keep[np.asarray(queries) if np.size(queries) else []] = True
        except IndexError:
            raise checks.InputError(
                f"queries must be positions below {keep.size} or a mask of {keep.size} values."
            ) from None
        rows = np.flatnonzero(self.groups.per_row(keep))
        return RankingData(
            self.X[rows],
            self.y[rows],
            qid=self.qid[rows],
            # Queries keep their order of first appearance, so a mask keeps weights in step.
            weight=None if self.weight is None else self.weight[keep],
            feature_names=self.feature_names,
            comments=None if self.comments is None else self.comments.take(rows),
            beyond=None if self.beyond is None else self.beyond.select(np.flatnonzero(keep)),
        )

    def keep(self, rows: Any) -> "RankingData":
        """Return the rows where a mask is true; labels of the others go to `beyond`.

        Queries of which no row is left are gone, with their labels.
        """
        mask = np.asarray(rows)
        if mask.dtype != bool or mask.shape != (len(self),):
            raise checks.InputError(f"rows must be a mask of {len(self)} values, true or false.")
        query = self.groups.per_row(np.arange(self.groups.ids.size))
        kept = np.flatnonzero(mask)
        other = RankingData(
            self.X[kept],
            self.y[kept],
            qid=query[kept],
            feature_names=self.feature_names,
            comments=None if self.comments is None else self.comments.take(kept),
        )
        # Without their first rows, queries may appear in another order.
        at = other.groups.ids
        other.groups = other.groups._replace(ids=self.groups.ids[at])
        other.weight = None if self.weight is None else self.weight[at]
        gone, query = self.y[~mask], query[~mask]
        if self.beyond is not None:
            before = np.repeat(np.arange(self.beyond.sizes.size), self.beyond.sizes)
            gone, query = np.append(self.beyond.y, gone), np.append(before, query)
        if gone.size:
            other.beyond = beyond_rows(gone, query, self.groups.ids.size).select(at)
        return other


def lacking(name: str, known: list[str]) -> checks.InputError:
    """Return the error for a column that a model was trained on and a table doesn't have."""
    near = checks.nearest(name, known).rstrip("?.")
    return checks.InputError(f"X lacks the column {name!r}{near}; the model was trained on it.")


def grouped(y: Any, qid: Any = None, group: Any = None) -> tuple[np.ndarray, Groups]:
    """Return labels and groups of a RankingData, or of labels with query ids or group sizes."""
    if isinstance(y, RankingData):
        if qid is not None or group is not None:
            raise checks.InputError("a RankingData knows its queries: leave out qid and group.")
        return y.y, y.groups
    y = checks.labels(y)
    return y, group_rows(y.size, qid, group)


def _count(number: int, noun: str) -> str:
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else many}"


def _weights(weight: Any, queries: int) -> np.ndarray:
    a = checks.vector(weight, "weight")
    if a.size != queries:
        raise checks.InputError(
            f"weight has {a.size} values, but there are {queries} queries: give one per query, "
            "in order of first appearance."
        )
    if a.min() <= 0:
        raise checks.InputError(
            f"weight must be positive, got {a.min():g} at query {int(a.argmin())}."
        )
    return a


def _names(names: Any, features: int) -> list[str] | None:
    if names is None:
        return None
    names = [str(n) for n in names]
    if len(names) != features:
        raise checks.InputError(
            f"feature_names has {len(names)} names, but X has {features} columns."
        )
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise checks.InputError(f"feature_names must differ, but {twice!r} is there twice.")
    return names


def validation_data(valid: Any, train: RankingData) -> RankingData:
    """Return validation data with the features of the training data."""
    if isinstance(valid, (tuple, list)):
        if len(valid) != 3:
            raise checks.InputError(f"valid must be (X, y, qid), got {len(valid)} values.")
        try:
            valid = RankingData(valid[0], valid[1], qid=valid[2])
        except checks.InputError as error:
            raise checks.InputError(f"in the validation data, {error}") from None
    if not isinstance(valid, RankingData):
        raise checks.InputError(
            f"valid must be a RankingData or (X, y, qid), got {type(valid).__name__}."
        )
    if train.feature_names is not None:
        valid = valid.with_features(train.feature_names)
    if valid.n_features != train.n_features:
        raise checks.InputError(
            f"the validation data has {valid.n_features} features, the training data "
            f"{train.n_features}; they must agree."
        )
    return valid


def training_data(X: Any, y: Any, qid: Any, group: Any, weight: Any, caller: str) -> RankingData:
    """Return a RankingData as it is, or one made of what else was given to `caller`."""
    if isinstance(X, RankingData):
        if not all(v is None for v in (y, qid, group, weight)):
            raise checks.InputError("a RankingData knows its labels and queries: give it alone.")
        return X
    if y is None:
        raise checks.InputError(
            f"{caller} needs labels: {caller}(X, y, qid=...), or a RankingData."
        )
    if qid is None and group is None:
        raise checks.InputError(
            f"{caller} needs to know the queries: give qid= (an id per row) or group= (sizes); inside "
            "scikit-learn's model selection, switch on metadata routing to hand qid on."
        )
    return RankingData(X, y, qid=qid, group=group, weight=weight)
