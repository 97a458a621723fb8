"""Source: all that a consumer of training data sees, whether its features are in memory, in files or on a worker."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from rankwood.data.comments import Comments
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups
from rankwood.data.tables.categories import Categories
from rankwood.data.tables.schema import Schema
from rankwood.data.unlisted import UnlistedLabels

if TYPE_CHECKING:
    from rankwood.data.stream.streamed_data import StreamedData

T = TypeVar("T")


class Source(ABC):
    """Labelled documents, grouped by query.

    Labels, queries and weights are in memory. Features are a matrix, or come block by block: who needs them asks for
    `matrix` or `blocks`, or says by `built` what to do in each case, and nobody asks which kind of source it is.
    """

    y: np.ndarray
    groups: Groups
    #: A weight per query, and a weight per row.
    weight: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    unlisted: UnlistedLabels | None = None
    #: Pairs of rows that came with the data; only data in memory has any.
    pairs: GivenPairs | None = None
    feature_names: list[str] | None = None
    categories: Categories
    #: Comments of LETOR lines; None if there are none, or if nobody read them.
    comments: Comments | None = None
    #: The `ClusterMember` that says which of all rows and queries these are, on a worker; None if all are here.
    place: Any = None
    #: Whether features come in blocks only.
    in_blocks: ClassVar[bool] = False

    def __len__(self) -> int:
        return int(self.y.size)

    @property
    def qid(self) -> np.ndarray:
        """Query id of each row."""
        return self.groups.per_row(self.groups.ids)

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @property
    def schema(self) -> Schema:
        """Number, names and categories of the features."""
        return Schema(self.n_features, self.feature_names, self.categories)

    @abstractmethod
    def matrix(self) -> Any:
        """Return all features as one matrix; raise if they are never all in memory."""

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Yield the features as matrices of consecutive rows."""

    @abstractmethod
    def built(
        self, from_matrix: Callable[[Any], T], from_files: Callable[["StreamedData"], T]
    ) -> T:
        """Return what is made of the features: of the matrix, or of files that are read block by block."""

    @abstractmethod
    def with_features(self, names: Sequence[str]) -> Self:
        """Return the same documents with the features of these names, in this order."""

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of all that this holds, by which a checkpoint recognises its data."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a digest of the labels, the queries and the features of some rows, to recognise data by."""
