"""Records of columns: one document, a range of documents, and columns that can't be used."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from rankwood._kernels.compile.jit import jit
from rankwood._kernels.records import document, documents


@jit
def one(column, i):
    return document(column, i)


@jit
def total(column, start, stop):
    part = documents(column, start, stop)
    sum_of_part = 0.0
    for i in range(part.size):
        sum_of_part += part[i]
    return sum_of_part


def test_columns_side_by_side_are_indexed():
    column = np.arange(20.0)
    assert one(column, 3) == 3.0 and total(column, 3, 5) == 7.0


def test_strided_columns_are_refused():
    """Their numbers would be read from wrong places."""
    strided = np.arange(20.0)[::2]
    for call in (lambda: one(strided, 3), lambda: total(strided, 3, 5)):
        with pytest.raises(TypingError, match="must be contiguous"):
            call()
