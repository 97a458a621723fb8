"""RankingData: documents with features and labels, grouped by query."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.data import arguments, concatenation
from rankwood.data.comments import Comments
from rankwood.data.digests import data_digest, data_fingerprint
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups, group_rows, random_folds, random_part
from rankwood.data.source import Source, T
from rankwood.data.tables.categories import renamed_categories
from rankwood.data.tables.data_view import data_html
from rankwood.data.tables.frames import features, is_frame
from rankwood.data.tables.query_columns import warn_about_query_columns
from rankwood.data.unlisted import UnlistedLabels

if TYPE_CHECKING:
    from rankwood.data.stream.streamed_data import StreamedData


class RankingData(Source):
    """Documents with features and labels, grouped by query; rows stay in the caller's order.

    Parameters
    ----------
    X : matrix
        Features: NumPy, SciPy sparse, pandas, Polars or Arrow. Missing values are NaN. A float32 or
        float64 matrix is used as it is, without a copy, and is never changed. Categorical columns of a
        table (`category`, `Categorical`, `Enum`, a dictionary) are categorical features.
    y : array or str
        Labels, not negative; or the name of a column of X, which then is not a feature.
    qid : array or str, optional
        Query id of each row: any type, any order, rows of a query need not be adjacent; or a column of X.
    group : array, optional
        Sizes of consecutive queries, in place of `qid`.
    weight : array, optional
        A positive weight of each query, in order of first appearance.
    sample_weight : array or str, optional
        A positive weight of each row; or a column of X. If all rows of a query have the same, it is a weight of
        the query. Otherwise the objective must be a sum over documents, as `softmax` is.
    feature_names : list of str, optional
        Taken from the columns of a table if not given.
    comments : sequence of str, optional
        A remark on each row, as the comments of a LETOR file.
    unlisted : sequence of arrays, optional
        For each query, in order of first appearance, the labels of documents that belong to it but are not
        here, because a first stage cut them away. They are never ranked, but ideals count them: NDCG, in
        `evaluate` and in training, divides by the ideal DCG of the full list.
    pairs : array of two or three columns, optional
        For the objective ``"ranknet-pairs"``: in each line two rows of the same query, counted from 0, of which the
        first should rank above the second, and if there are three columns the weight of the pair, 1 by default. A pair
        may be there twice, or both ways.

    Attributes
    ----------
    X, y, weight, feature_names, comments
        As given; y can't be written to.
    sample_weight : array or None
        The weight of each row, if rows of the same query have different ones.
    categories : dict
        Values of each categorical feature by its name; X has their positions.
    unlisted : UnlistedLabels or None
        Labels of documents that are not in the lists: `y`, and `ptr` as in `groups`.
    pairs : GivenPairs or None
        The given pairs, as columns: `winner`, `loser` and `weight`.
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
        sample_weight: Any = None,
        feature_names: Any = None,
        comments: Any = None,
        unlisted: Any = None,
        pairs: Any = None,
    ) -> None:
        (y, qid, sample_weight), named = arguments.resolved_columns(X, (y, qid, sample_weight))
        self.X, names, categories = features(X, named)
        rows = self.X.shape[0]
        self.groups: Groups = group_rows(rows, qid, group)
        self.y: np.ndarray = arguments.read_only(checks.labels(y, rows))
        self.weight, self.sample_weight = arguments.checked_weights(
            weight, sample_weight, self.groups
        )
        given = names if feature_names is None else feature_names
        self.feature_names = arguments.distinct_names(given, self.X.shape[1])
        self.categories = renamed_categories(categories, names, self.feature_names)
        self.comments: Comments | None = arguments.row_comments(comments, rows)
        self.unlisted: UnlistedLabels | None = None
        if unlisted is not None:
            self.unlisted = UnlistedLabels.from_lists(unlisted, self.groups.ids.size)
        self.pairs: GivenPairs | None = None if pairs is None else GivenPairs.of(pairs, self.groups)
        if is_frame(X):
            warn_about_query_columns(self.X, self.feature_names or [], self.groups)

    def __repr__(self) -> str:
        return f"RankingData({self._sizes()})"

    def _repr_html_(self) -> str:
        return data_html(self, self._sizes())

    def _sizes(self) -> str:
        rows, features = self.X.shape
        return (
            f"{plural(rows, 'document')}, {plural(self.groups.ids.size, 'query')}, {plural(features, 'feature')}, "
            f"labels {self.y.min():g} to {self.y.max():g}"
        )

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def matrix(self) -> Any:
        """Return the features.

        Returns
        -------
        matrix
            `X`, without a copy.
        """
        return self.X

    def blocks(self) -> Iterator[Any]:
        """Yield the features as one block.

        Yields
        ------
        matrix
            `X` alone.
        """
        yield self.X

    def built(
        self, from_matrix: Callable[[Any], T], from_files: Callable[["StreamedData"], T]
    ) -> T:
        """Return what a function makes of the matrix; see `rankwood.data.source.Source`.

        Parameters
        ----------
        from_matrix, from_files : functions
            What to do with features in memory, and with those in files; the first is called.

        Returns
        -------
        object
            What it returns.
        """
        return from_matrix(self.X)

    def digest(self) -> str:
        """Return a digest of all that this holds: labels, queries, weights, pairs and features.

        Returns
        -------
        str
            Equal for equal data.
        """
        return data_digest(self)

    def fingerprint(self) -> str:
        """Return a digest of the labels, the queries, the pairs and the features of some rows.

        Returns
        -------
        str
            Equal for equal data; quick to compute.
        """
        return data_fingerprint(self)

    def with_features(self, names: Sequence[str]) -> "RankingData":
        """Return the same documents with some of the features.

        Parameters
        ----------
        names : sequence of str
            Names of features, in the order wanted; data without names is returned as it is.

        Returns
        -------
        RankingData
        """
        names = list(names)
        if self.feature_names is None or self.feature_names == names:
            return self
        here = arguments.features_by_name(self.feature_names, names)
        other = copy(self)
        other.X = self.X[:, here]
        other.feature_names = names
        other.categories = {n: v for n, v in self.categories.items() if n in names}
        return other

    def select(self, queries: Any) -> "RankingData":
        """Return some of the queries.

        Parameters
        ----------
        queries : array of int or bool
            Positions of queries, in order of first appearance, or a mask of all queries.

        Returns
        -------
        RankingData
            These queries, with rows in the caller's order, and with their pairs.
        """
        chosen = np.zeros(self.groups.ids.size, bool)
        try:
            chosen[np.asarray(queries) if np.size(queries) else []] = True
        except IndexError:
            raise checks.InputError(
                f"queries must be positions below {chosen.size} or a mask of {chosen.size} values."
            ) from None
        other, queries = self._take(np.flatnonzero(self.groups.per_row(chosen)))
        other.unlisted = None if self.unlisted is None else self.unlisted.select(queries)
        return other

    def cut_to(self, rows: Any) -> "RankingData":
        """Return some of the rows; labels of the others become unlisted.

        Parameters
        ----------
        rows : array of bool
            A mask of the rows to keep. Queries without any disappear, with all of their labels.

        Returns
        -------
        RankingData
            The rows in the caller's order, and the pairs of which both rows are kept.

        Examples
        --------
        >>> import rankwood as rw
        >>> data = rw.RankingData([[0.1], [0.7], [0.3]], [0, 2, 1])
        >>> data.cut_to([True, False, True]).unlisted.y.tolist()
        [2.0]
        """
        mask = np.asarray(rows)
        if mask.dtype != bool or mask.shape != (len(self),):
            raise checks.InputError(f"rows must be a mask of {len(self)} values, true or false.")
        other, queries = self._take(np.flatnonzero(mask))
        query = self.groups.per_row(np.arange(self.groups.ids.size))
        unlisted = UnlistedLabels.from_rows(self.y[~mask], query[~mask], self.groups.ids.size)
        if self.unlisted is not None:
            unlisted = self.unlisted.followed_by(unlisted)
        other.unlisted = unlisted.select(queries) if unlisted.y.size else None
        return other

    def _take(self, rows: np.ndarray) -> tuple["RankingData", np.ndarray]:
        """Return some rows, without unlisted labels, and the positions of their queries."""
        query = self.groups.per_row(np.arange(self.groups.ids.size))
        other = RankingData(
            self.X[rows],
            self.y[rows],
            qid=query[rows],
            feature_names=self.feature_names,
            comments=None if self.comments is None else self.comments.take(rows),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )
        other.categories = self.categories
        other.pairs = None if self.pairs is None else self.pairs.take(rows, len(self))
        # Without their first rows, queries may appear in another order.
        queries = other.groups.ids
        other.groups = other.groups._replace(ids=self.groups.ids[queries])
        other.weight = arguments.combined_weights(other.weight, self.weight, queries)
        return other, queries

    @staticmethod
    def concat(parts: Sequence["RankingData"]) -> "RankingData":
        """Join data sets of different queries.

        Parameters
        ----------
        parts : sequence of RankingData
            Data with the same features. Names, where there are any, say which belong together; parts without
            names have the features in the order of the first part with names.

        Returns
        -------
        RankingData
            The rows of the first part, then those of the second, and so on, with the categories of all. X is sparse if
            that of any part is. Parts without weights have weights of 1, those without comments empty ones, and those
            without pairs none.

        Raises
        ------
        InputError
            If features differ or a query id is in two parts.

        Examples
        --------
        >>> import rankwood as rw
        >>> rw.RankingData.concat([rw.load_demo("train"), rw.load_demo("valid")]).groups.ids.size
        160
        """
        parts = concatenation.with_same_features(parts)
        made = RankingData(**concatenation.concat_arguments(parts))
        made.categories = parts[0].categories
        return made

    def split(self, fraction: float, seed: int = 0) -> tuple["RankingData", "RankingData"]:
        """Split off a random part of the queries, such as validation data.

        Parameters
        ----------
        fraction : float
            Share of the queries in the second part, between 0 and 1; each part has one at least.
        seed : int
            The same seed gives the same split of as many queries.

        Returns
        -------
        rest, part : RankingData
            Whole queries, in the caller's order in both.

        Examples
        --------
        >>> import rankwood as rw
        >>> train, valid = rw.make_ranking(50).split(0.2)  # 40 and 10 queries
        """
        chosen = random_part(self.groups.ids.size, fraction, seed)
        return self.select(~chosen), self.select(chosen)

    def folds(self, n: int, seed: int = 0) -> Iterator[tuple["RankingData", "RankingData"]]:
        """Return training and test data for cross-validation by query.

        Parameters
        ----------
        n : int
            Number of folds, at least 2. Their numbers of queries differ by at most one.
        seed : int
            The same seed gives the same folds of as many queries.

        Returns
        -------
        iterator of (train, test)
            For each fold, the other queries and its own, rows in the caller's order, made when needed.

        Examples
        --------
        >>> import rankwood as rw
        >>> [test.groups.ids.size for train, test in rw.make_ranking(10).folds(3)]
        [4, 3, 3]
        """
        fold = random_folds(self.groups.ids.size, n, seed)
        return ((self.select(fold != i), self.select(fold == i)) for i in range(n))
