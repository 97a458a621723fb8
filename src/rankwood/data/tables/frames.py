"""Feature tables of any kind as matrices: NumPy, SciPy sparse, pandas, Polars, Arrow."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rankwood._util import checks
from rankwood.data.tables.categories import Categories, coded_column


class Features(NamedTuple):
    """A float matrix (NumPy, or SciPy CSR if sparse), the names of its columns, if any, and their categories."""

    X: Any
    names: list[str] | None
    categories: Categories


def is_lazy(x: Any) -> bool:
    """Tell whether something is a collection of Dask, whose partitions are computed later."""
    return hasattr(x, "__dask_graph__")


def is_frame(x: Any) -> bool:
    """Whether `x` is a table with named columns (pandas, Polars or Arrow)."""
    return hasattr(x, "columns") and (hasattr(x, "dtypes") or hasattr(x, "column_names"))


def column_names(frame: Any) -> list[str]:
    """Names of a table's columns, as text."""
    return [str(c) for c in getattr(frame, "column_names", None) or frame.columns]


def column(frame: Any, name: str) -> Any:
    """Return one column of a table, with an error that suggests near names."""
    names = column_names(frame)
    if name not in names:
        raise checks.InputError(f"the table has no column {name!r}{checks.nearest(name, names)}")
    at = names.index(name)
    if hasattr(frame, "iloc"):  # pandas
        return frame.iloc[:, at]
    values = frame[frame.columns[at] if hasattr(frame, "dtypes") else name]
    if hasattr(frame, "num_rows") and not hasattr(values, "combine_chunks"):
        import pyarrow as pa

        # A batch of Arrow has columns in one piece, a table in chunks.
        return pa.chunked_array([values])
    return values


def features(
    X: Any,
    drop: tuple[str, ...] = (),
    only: list[str] | None = None,
    text_columns: Collection[str] = (),
) -> Features:
    """Return X as a float matrix, with names and categories of its columns.

    A float32 or float64 matrix is used as it is, never copied and never changed; missing values are NaN.
    In a table, the columns in `drop` are not features; or only those in `only` are, in that order. In `text_columns`
    text means categories; elsewhere it is an error.
    """
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise checks.InputError("X is a lazy table; call .collect() on it first.")
    if is_frame(X):
        names = only or [n for n in column_names(X) if n not in drop]
        return _from_columns(X, names, text_columns)
    if sparse.issparse(X):
        if X.ndim != 2:
            raise checks.InputError(f"X must have two dimensions, got shape {X.shape}.")
        X = X.tocsr()
        if X.dtype.kind not in "fiub":
            raise checks.InputError(f"X must hold numbers, got {X.dtype}; convert it first.")
        # Entries that are there twice mean their sum, and engines don't add them.
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        real = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        return Features(real, None, {})
    a = checks.numbers(X, "X", keep=(np.float32, np.float64))
    if a.ndim != 2:
        raise checks.InputError(
            f"X must have two dimensions, rows of documents and columns of features, got shape {a.shape}. "
            "Reshape your data: X.reshape(1, -1) is one document, X.reshape(-1, 1) one feature."
        )
    return Features(a, None, {})


def dense(X: Any) -> np.ndarray:
    """Return a matrix as a dense array: entries that a sparse one doesn't store are 0."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def sparse_matrix(X: Any) -> Any:
    """Return a sparse array as a sparse matrix, which older programs need; other matrices unchanged.

    Indices have 32 bits if that is enough.
    """
    if not sparse.issparse(X):
        return X
    X = sparse.csr_matrix(X)
    if X.indices.dtype == np.int64 and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
        narrow = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        return sparse.csr_matrix(narrow, X.shape)
    return X


def _from_columns(frame: Any, names: list[str], text_columns: Collection[str]) -> Features:
    """Copy a table's columns into one matrix, column by column, so that no second copy is held."""
    if not names:
        raise checks.InputError("the table has no feature columns left.")
    rows = frame.num_rows if hasattr(frame, "num_rows") else len(frame)
    columns, categories = [], {}
    for name in names:
        values = column(frame, name)
        coded = coded_column(values, name, name in text_columns)
        if coded is not None:
            categories[name] = coded.values
        columns.append(_numbers(values, name) if coded is None else coded.codes)
    real = np.float32 if all(c.dtype == np.float32 for c in columns) else np.float64
    out = np.empty((rows, len(names)), real, order="F")
    for at, numbers in enumerate(columns):
        out[:, at] = numbers
    return Features(out, names, categories)


def _numbers(values: Any, name: str) -> np.ndarray:
    """Return one column as floats; null becomes NaN."""
    if hasattr(values, "iloc") and not isinstance(values.dtype, np.dtype):  # pandas' own types
        try:
            return values.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            pass  # the check below raises
    array = values.to_numpy()
    if array.dtype == object and any(isinstance(value, str) for value in array):
        raise checks.InputError(
            f"column {name!r} must hold numbers, got text: make it categorical, as in "
            f"X[{name!r}].astype('category') of pandas, or omit it."
        )
    return checks.numbers(array, f"column {name!r}", keep=(np.float32, np.float64))
