"""Blocks of whole queries, made of the pieces that readers return."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

#: Bytes of a file, as its reader counts them, in a block; a longer query makes a longer block.
BLOCK = 32 << 20


class Piece(NamedTuple):
    """Rows in the order of a file; a query may begin before them or end after them."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    #: Number of each row in the file, as people count it: the line of a text, the row of a table.
    place: np.ndarray
    #: Position of the file in the list of files.
    file: int
    #: Bytes of the file that the rows took, so that blocks end at the same rows in every pass.
    size: int
    #: Checksums of what was read, so that every pass sees the same; of the text, or of labels, ids and each feature.
    checksums: np.ndarray


class Block(NamedTuple):
    """Rows of whole queries, in the order of the files."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    place: np.ndarray
    #: Position of the file of each row in the list of files.
    file: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """The first row of each query."""
        return np.flatnonzero(np.concatenate([[True], self.qid[1:] != self.qid[:-1]]))


def whole_queries(
    pieces: Iterable[Piece], fill_value: float = 0.0, size: int = BLOCK
) -> Iterator[Block]:
    """Yield blocks of about `size` bytes that end where a query ends; a query is never in two blocks.

    Pieces may differ in width: features that one lacks have `fill_value`.
    """
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        if sum(one.size for one in held) < size:
            continue
        block = _joined(held, fill_value)
        last = int(block.starts[-1])
        if last == 0:  # one query so far: its end is in a later piece
            continue
        yield Block(*(column[:last] for column in block))
        # The rest is copied, so that the block isn't kept for its sake; its bytes counted already.
        held = [_rest(block, last)]
    if held:
        yield _joined(held, fill_value)


def _rest(block: Block, first: int) -> Piece:
    """Return the last rows of a block as a piece; all of them are of one query, in one file or at a seam of two."""
    X, y, qid, place, file = (column[first:].copy() for column in block)
    return Piece(X, y, qid, place, file, 0, np.empty(0, np.uint32))  # type: ignore[arg-type]


def _joined(pieces: list[Piece], fill_value: float) -> Block:
    """Return all rows of several pieces."""
    width = max(piece.X.shape[1] for piece in pieces)
    rows = sum(piece.y.size for piece in pieces)
    X = np.empty((rows, width), pieces[0].X.dtype)
    row = 0
    for piece in pieces:
        own = X[row : row + piece.y.size]
        own[:, : piece.X.shape[1]] = piece.X
        own[:, piece.X.shape[1] :] = fill_value
        row += piece.y.size
    return Block(
        X,
        np.concatenate([piece.y for piece in pieces]),
        join_ids([piece.qid for piece in pieces]),
        np.concatenate([piece.place for piece in pieces]),
        np.concatenate([np.broadcast_to(piece.file, piece.y.shape) for piece in pieces]),
    )


def join_ids(parts: list[np.ndarray]) -> np.ndarray:
    """Return query ids in one array, as text if some are text: a LETOR file prints numbers in one way only."""
    if len({ids.dtype.kind for ids in parts}) > 1:
        parts = [ids.astype(np.str_) for ids in parts]
    return np.concatenate(parts)
