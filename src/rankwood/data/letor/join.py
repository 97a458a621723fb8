"""Join the blocks of a LETOR file, each parsed into a matrix of its own, without holding two matrices."""

import mmap
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from rankwood.data.comments import Comments


class Letor(NamedTuple):
    """The contents of a LETOR file."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    comments: Comments | None


class Part(NamedTuple):
    """The contents of one block of lines; `comments` holds the bytes of all, `comment_size` how many each has."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    comments: np.ndarray
    comment_size: np.ndarray


def join(parts: list[Part], width: int, fill_value: float, n_threads: int) -> Letor:
    """Join parts into arrays of the file; `parts` is emptied, so that memory is freed as it is copied."""
    y = np.concatenate([part.y for part in parts])
    qid = _join_ids([part.qid for part in parts])
    sizes = np.concatenate([part.comment_size for part in parts])
    comments = [part.comments for part in parts]
    matrices = [part.X for part in parts]
    parts.clear()
    return Letor(
        _join_matrices(matrices, width, fill_value, n_threads),
        y,
        qid,
        _join_comments(comments, sizes),
    )


def _join_matrices(
    matrices: list[np.ndarray], width: int, fill_value: float, n_threads: int
) -> np.ndarray:
    starts = np.cumsum([0] + [matrix.shape[0] for matrix in matrices]).tolist()
    X = np.empty((starts[-1], width), np.float32)

    def copy_part(number: int) -> None:
        source, matrices[number] = matrices[number], matrices[number][:0].copy()
        target = X[starts[number] : starts[number + 1]]
        target[:, : source.shape[1]] = source
        target[:, source.shape[1] :] = fill_value

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(copy_part, range(len(matrices))))
    return X


def _join_ids(ids: list[np.ndarray]) -> np.ndarray:
    if any(part.dtype.kind == "U" for part in ids):
        ids = [part.astype(np.str_) for part in ids]
    return np.concatenate(ids)


def _join_comments(texts: list[np.ndarray], sizes: np.ndarray) -> Comments | None:
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    blob = np.empty(offsets[-1], np.uint8)
    stop = blob.size
    while texts:
        text = texts.pop()
        blob[stop - text.size : stop] = text
        stop -= text.size
    return Comments(blob, offsets) if blob.size else None


def allocate_pages(count: int, dtype: Any) -> np.ndarray:
    """Return an array on memory pages of its own, which go back to the system when it is deleted.

    Pages that are never written to take no memory, so an array may well be too large.
    """
    try:
        pages = mmap.mmap(-1, max(count * np.dtype(dtype).itemsize, 1))
    except (OSError, OverflowError) as error:
        raise MemoryError from error
    return np.frombuffer(pages, dtype, count)
