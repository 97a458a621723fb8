"""One thread's memory: every column has a name, belongs to one step, and is as long as the longest list."""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.numeric.lanes import LANES
from rankwood._kernels.numeric.sorting import make_sort_scratch
from rankwood._kernels.records import LookUpColumn, Table
from rankwood.objectives._kernels.rooms import make_room

#: Memory of the pairwise kernel, step by step: `ranking` and `docs` by rank, `arranging` and `visiting` by place, `own`
#: and `pairs` for the weight and the pair set, `draws` for several rankings, `sums` by place, `totals` by slot.
PairScratch = namedtuple(
    "PairScratch", "ranking docs arranging visiting own pairs draws sums totals"
)
#: Scores to sort by and room to select in; the slot of each rank; memory of the sorts.
RankingScratch = namedtuple("RankingScratch", "key spare slot sorting")
#: Columns of `Doc`, by rank.
DocColumns = namedtuple("DocColumns", "label score embedded rank turn first end")
#: Memory of the listwise kernel: labels and scores by slot, what the objective needs, and its derivatives.
ListScratch = namedtuple("ListScratch", "label score own totals")

# Compiled loops check at run time whether arrays overlap, and are slower if they might. Columns lie so many numbers
# apart that no check fails.
_GAP = 256
_LINE = 64  # bytes of a cache line
_PAGE = 4096  # bytes after which addresses fall into the same cache set


class Memory:
    """Allocates columns for lists of up to `longest` documents.

    Parameters
    ----------
    longest : int
        Length of the longest list.
    real : type
        Precision of the kernel.
    n_labels : int
        Largest number of different labels in a query, for parts that keep a table by label.
    """

    def __init__(self, longest: int, real: type, n_labels: int = 1) -> None:
        self.size = longest + LANES - 1
        self.real = real
        self.n_labels = n_labels

    def columns(self, names: tuple[str, ...], dtype: Any = None) -> dict[str, np.ndarray]:
        """Return columns by name; each begins at a cache line, so that vectors don't cross lines."""
        kind = np.dtype(dtype or self.real)
        line = _LINE // kind.itemsize
        stride = -(-(self.size + _GAP) // line) * line
        if stride * kind.itemsize % _PAGE < _LINE:  # columns would compete for the same cache sets
            stride += line
        block: np.ndarray = np.empty(len(names) * stride + line, kind)
        start = -block.ctypes.data % _LINE // kind.itemsize
        return {name: block[start + i * stride :][: self.size] for i, name in enumerate(names)}

    def record(self, cls: Any, dtype: Any = None) -> Any:
        """Return a record of this class whose fields are all columns."""
        return cls(**self.columns(cls._fields, dtype))

    def matrix(self) -> np.ndarray:
        """Return a matrix by pairs of documents."""
        return np.empty((self.size, self.size), self.real)

    def ranking(self) -> RankingScratch:
        """Return memory to rank a list."""
        keys = self.columns(("key", "spare"), np.float64)
        slot = self.columns(("slot",), np.int64)
        return RankingScratch(**keys, **slot, sorting=make_sort_scratch(self.size))

    def docs(self) -> DocColumns:
        """Return the columns of documents by rank, which itself is filled in."""
        docs = self.record(DocColumns)
        docs.rank[:] = docs.turn[:] = np.arange(self.size)
        return docs

    def room(self, part: Any) -> Any:
        """Return what a part asks for, in this memory."""
        return make_room(part, self)

    def real_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns of the kernel's precision."""
        return self.columns(names)

    def index_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns of integers."""
        return self.columns(names, np.int64)

    def look_up_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns that `look_up` fills."""
        return {name: LookUpColumn(column) for name, column in self.columns(names).items()}

    def tables_by_label(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return tables with a row for each label of a query."""
        return {name: Table(np.empty((self.n_labels, self.size), self.real)) for name in names}

    def sorting(self) -> Any:
        """Return memory of a sort."""
        return make_sort_scratch(self.size)
