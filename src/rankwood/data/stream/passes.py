"""Progress bars for passes over large files."""

from collections.abc import Iterable, Iterator

import numpy as np

from rankwood._util.progress import bar
from rankwood.data.stream.blocks import Block


def first_pass(blocks: Iterable[Block], files: int, show: bool | None) -> Iterator[Block]:
    """Yield blocks, and show how many files are done; nobody knows yet how many documents there are."""
    rows, done = 0, 0
    with bar(files, "Reading labels", show) as advance:
        for block in blocks:
            rows += block.y.size
            now = int(block.file[-1])
            advance(f"{rows:,} documents", now - done)
            done = now
            yield block
        advance(f"{rows:,} documents", files - done)


def later_pass(blocks: Iterable[np.ndarray], rows: int, show: bool | None) -> Iterator[np.ndarray]:
    """Yield blocks of features, and show how many of the documents are done."""
    with bar(rows, "Reading features", show) as advance:
        for X in blocks:
            yield X
            advance("", X.shape[0])
