"""Comments of rows, one string each, stored as one array of UTF-8 bytes."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from rankwood._util.checks import InputError

_DOC_ID = re.compile(r"\bdocid\s*[=:]\s*(\S+)", re.IGNORECASE)


class Comments:
    """One string per row, stored compactly: all bytes in one array.

    Parameters
    ----------
    blob : array of uint8
        The UTF-8 bytes of all comments, one after the other.
    offsets : array of int64
        Where each comment starts, and where the last one ends: one more than there are rows.
    """

    def __init__(self, blob: np.ndarray, offsets: np.ndarray):
        self.blob = np.asarray(blob, dtype=np.uint8)
        self.offsets = np.asarray(offsets, dtype=np.int64)

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Comments":
        """Return the comments in `texts`, without the blanks around them."""
        texts = list(texts)
        bad = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if bad is not None:
            raise InputError(
                f"comments must be text, one for each row, got {texts[bad]!r} at row {bad}; convert it "
                "with str first."
            )
        # Lone surrogates, which no UTF-8 can hold, are the only thing that is replaced.
        parts = [text.strip().encode("utf-8", "replace") for text in texts]
        offsets = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, i: int) -> str:
        i = int(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"row {i} of {len(self)} comments")
        i %= len(self)
        return _text(self.blob[self.offsets[i] : self.offsets[i + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        view = memoryview(self.blob)  # type: ignore[arg-type]
        edges = self.offsets.tolist()
        for start, stop in pairwise(edges):
            yield _text(bytes(view[start:stop]))

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Comments):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Comments({len(self)} rows, {self.blob.nbytes + self.offsets.nbytes} bytes)"

    def cover(self, rows: int) -> bool:
        """Return whether there is one comment per row, for `rows` rows, and each lies within the stored bytes."""
        blob, offsets = self.blob, self.offsets
        return (
            (blob.ndim, offsets.shape) == (1, (rows + 1,))
            and (int(offsets[0]), int(offsets[-1])) == (0, blob.size)
            and bool((np.diff(offsets) >= 0).all())
        )

    def take(self, rows: Any) -> "Comments":
        """Return the comments of `rows`, an array of row numbers or a mask, in that order."""
        rows = np.arange(len(self))[rows]
        starts, sizes = self.offsets[:-1][rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        # Byte k of the result lies as far from its row's start as in the source.
        shift = np.repeat(starts - offsets[:-1], sizes)
        return Comments(self.blob[np.arange(offsets[-1]) + shift], offsets)

    @property
    def doc_ids(self) -> list[str]:
        """The document id of every row: what follows `docid =`, else the first word, else ''."""
        return [_doc_id(text) for text in self]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _doc_id(text: str) -> str:
    match = _DOC_ID.search(text)
    if match:
        return match.group(1)
    return text.split(maxsplit=1)[0] if text.strip() else ""
