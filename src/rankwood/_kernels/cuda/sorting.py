"""Sorts of a team: by counting for short lists, by a sorting network for long ones; both give the order of the CPU."""

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import each
from rankwood._kernels.numeric.scalars import descending_bits
from rankwood._kernels.records import document

#: Lists of up to so many documents are ranked by counting.
COUNTED = 2048


@uncounted
def rank_words(word, slot):
    """Fill `slot` with the order of words upwards, equal ones by slot; long lists of words are sorted in place."""
    n = word.size
    if n > COUNTED:
        _sort_words(word, slot)
        return
    for i in each(n):
        # Numba's `range` has a counter of its own, and its indices may be negative; CUDA's compiler doesn't remove what
        # that costs, so loops are `while` loops, and `document` takes indices from 0 on.
        own, above, j = document(word, i), np.int32(0), np.int64(0)
        while j < i:
            above = np.int32(above + 1) if document(word, j) <= own else above
            j += 1
        j += 1
        while j < n:
            above = np.int32(above + 1) if document(word, j) < own else above
            j += 1
        slot[above] = i


@uncounted
def _sort_words(word, slot):
    """Sort words and slots by a bitonic network in which every exchange goes the same way, so that any length will do.

    Of two numbers of the network, the one with the smaller word, or the smaller slot, goes first.
    """
    n = word.size
    for i in each(n):
        slot[i] = i
    width = 1
    while width < n:
        width *= 2
        _exchange(word, slot, width, True)
        step = width // 4
        while step > 0:
            _exchange(word, slot, step, False)
            step //= 2


@uncounted
def _exchange(word, slot, width, mirrored):
    """Do one step of the network: partners are mirrored in blocks of `width`, or lie `width` apart."""
    n = word.size
    half = width // 2 if mirrored else width
    for t in each((n + 1) // 2 + half):
        start, offset = t // half * (2 * half), t % half
        low = start + offset
        high = start + 2 * half - 1 - offset if mirrored else low + half
        if high < n:
            later = word[low] > word[high] or (word[low] == word[high] and slot[low] > slot[high])
            if later:
                word[low], word[high] = word[high], word[low]
                slot[low], slot[high] = slot[high], slot[low]


def sort_on_team(scores, slot, scratch):
    """Sort as `sort_down` does; verbs of parts call it by that name."""
    for i in each(scores.size):
        scratch.word[i] = descending_bits(scores[i])
    rank_words(scratch.word, slot)
