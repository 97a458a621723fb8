"""How many lines a LETOR file has, before it is read."""

import os
from stat import S_ISREG

from rankwood.data.letor.blocks import BlockInfo, BlockReader

_PLACES = 16  # where lines are looked at, besides the first block
_SIZE = 1 << 16  # bytes there


def least_lines(blocks: BlockReader, first: BlockInfo) -> float:
    """Return how many lines a file has, about or at least; 0 if nobody can know, as of a pipe.

    The text of a compressed file is at least as long as the file.
    """
    number = blocks.file.fileno()
    found = os.fstat(number)
    if not S_ISREG(found.st_mode) or not first.lines:
        return 0.0
    size, lines = first.size, first.lines
    if not blocks.packed and hasattr(os, "pread"):  # which leaves the place of the reader as it is
        for place in range(_PLACES):
            text = os.pread(number, _SIZE, found.st_size * place // _PLACES)
            size, lines = size + len(text), lines + text.count(b"\n")
    return found.st_size / (size / lines)
