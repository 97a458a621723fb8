"""Which features share a column, and which codes have aliases.

Features whose numbers of codes multiply to at most 256 share a column: one addition serves all of them in a histogram,
and the search adds the column's codes up by feature. A code that most documents have would be slow, as each addition
waits for the one before it; documents take turns among it and up to seven codes that no document has, its aliases,
which are added to it when a histogram is finished. Neither changes a bit of a tree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwood.engines.trees.growth.records import CODES, COLUMN, FEATURE, LANES

_MOST_ALIASES = 7
_FREQUENT = 0.3  # share of documents from which on a code has aliases


class ColumnPlan(NamedTuple):
    """Columns and features as kernels read them; columns of documents come before those of queries."""

    columns: np.ndarray
    listed: np.ndarray
    features: np.ndarray
    document_columns: int

    @property
    def document_words(self) -> int:
        """Number of words of documents."""
        return self.document_columns // LANES


def plan_columns(n_codes: Sequence[int], of_queries: np.ndarray) -> ColumnPlan:
    """Arrange features in columns.

    Parameters
    ----------
    n_codes : sequence of int
        Number of codes of each feature; one code means that there is nothing to split.
    of_queries : array of bool
        Which features have a column of queries.

    Returns
    -------
    ColumnPlan
        The plan; features have their column and divisor, and nothing else yet.
    """
    split = [f for f, codes in enumerate(n_codes) if codes > 1]
    joined = _joined([f for f in split if not of_queries[f]], n_codes)
    joined += [[]] * (-len(joined) % LANES)
    document_columns = len(joined)
    joined += _joined([f for f in split if of_queries[f]], n_codes)
    joined += [[]] * (-len(joined) % LANES)
    columns, features = np.zeros(len(joined), COLUMN), np.zeros(len(n_codes), FEATURE)
    features["column"] = -1
    first = 0
    for number, members in enumerate(joined):
        divisor = 1
        for f in members:
            features[f]["column"], features[f]["divisor"] = number, divisor
            divisor *= n_codes[f]
        columns[number] = (first, len(members), divisor if members else 0, 0, 0)
        first += len(members)
    listed = np.array([f for members in joined for f in members], np.int64)
    return ColumnPlan(columns, listed, features, document_columns)


def _joined(features: Sequence[int], n_codes: Sequence[int]) -> list[list[int]]:
    """Return lists of features that share a column: first fit, features with most codes first."""
    rooms: list[int] = []
    joined: list[list[int]] = []
    for f in sorted(features, key=lambda f: -n_codes[f]):
        place = next((i for i, room in enumerate(rooms) if room * n_codes[f] <= CODES), None)
        if place is None:
            rooms.append(n_codes[f])
            joined.append([f])
        else:
            rooms[place] *= n_codes[f]
            joined[place].append(f)
    return joined


def choose_aliases(plan: ColumnPlan, codes: np.ndarray) -> None:
    """Give aliases to frequent codes, given the codes of some documents: an array of columns by documents."""
    for number in range(codes.shape[0]):
        column = plan.columns[number]
        spare = min(_MOST_ALIASES, CODES - int(column["codes"]))
        if not column["features"] or not spare:
            continue
        counts = np.bincount(codes[number], minlength=1)
        if counts.max() > _FREQUENT * codes.shape[1]:
            column["aliases"], column["alias_of"] = spare, int(counts.argmax())
