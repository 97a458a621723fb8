"""Sorts of documents by decreasing score, equal scores by slot.

Every sort here gives the same order, so which one runs is a question of speed alone: an insertion sort repairs an
order that is nearly right, counting is fastest for short lists, a radix sort is linear for long ones, and a selection
finds the first k without sorting them.
"""

from collections import namedtuple
from typing import Any

import numpy as np
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import overload

from rankwood._kernels.compile.jit import UNCOUNTED, inner, uncounted
from rankwood._kernels.numeric.scalars import count_if, counter_like, descending_bits
from rankwood._kernels.records import documents

#: Lists of up to so many documents are sorted by counting, which is quadratic but vectorises.
SHORT = 128
_DIGITS = 256  # values of one byte

#: Memory of a sort: two columns of words and two of indices, as long as the list, and counts by digit.
SortScratch = namedtuple("SortScratch", "word other_word index other_index digit_count")


def make_sort_scratch(size: int) -> SortScratch:
    """Return memory to sort lists of up to `size` documents.

    A part with ``sorts = True`` has it in its room.

    Parameters
    ----------
    size : int
        Largest number of documents.

    Returns
    -------
    SortScratch
        The memory, for `sort_down`.
    """
    words, indices = np.empty((2, size), np.uint64), np.empty((2, size), np.int64)
    return SortScratch(words[0], words[1], indices[0], indices[1], np.empty(_DIGITS, np.int64))


@uncounted
def sort_down(scores, slot, scratch):
    """Fill `slot` with the order of the scores: `scores[slot[i]]` falls with i, and ties stay in order.

    Parameters
    ----------
    scores, slot : arrays
        Scores, and integers of the same length to fill in.
    scratch : SortScratch
        Memory, as in the room of a part with ``sorts = True``.
    """
    if scores.size <= SHORT:
        counting_sort(scores, slot, scratch.index)
    else:
        radix_sort(scores, slot, scratch)


@uncounted
def repair_sort(key, slot, spare, scratch):
    """Sort `key` downwards and `slot`, a permutation of the numbers from 0, with it, in place.

    Scores move little between rounds, so insertion repairs the order of the round before, and only an order that is
    far off is sorted from scratch. `spare` has the length of `key`.
    """
    n = key.size
    if _insert(key, slot, np.uint64(1), 2 * n + 16):
        return
    for i in range(n):
        spare[slot[i]] = key[i]
    sort_down(documents(spare, 0, n), slot, scratch)
    for i in range(n):
        key[i] = spare[slot[i]]


@uncounted
def counting_sort(scores, slot, used):
    """Fill `slot` as `sort_down` does, by counting how many scores are above each.

    There are no branches that depend on scores; four documents are compared with the list at a time.
    """
    n = np.uint64(scores.size)
    for i in range(n):
        used[i] = 0  # of equal scores, how many have their place already
    last = n - np.uint64(1)
    for i in range(np.uint64(0), n, np.uint64(4)):
        s0 = scores[i]
        s1 = scores[i + np.uint64(1) if i + np.uint64(1) < n else last]
        s2 = scores[i + np.uint64(2) if i + np.uint64(2) < n else last]
        s3 = scores[i + np.uint64(3) if i + np.uint64(3) < n else last]
        above0 = above1 = above2 = above3 = counter_like(s0)
        for j in range(n):  # the counters are as wide as the scores: they fill the same vectors
            above0 = count_if(above0, scores[j] > s0)
            above1 = count_if(above1, scores[j] > s1)
            above2 = count_if(above2, scores[j] > s2)
            above3 = count_if(above3, scores[j] > s3)
        for r in range(np.uint64(4)):
            if i + r < n:
                above = above0 if r == 0 else (above1 if r == 1 else (above2 if r == 2 else above3))
                place = np.int64(above) + used[np.int64(above)]
                used[np.int64(above)] += 1
                slot[place] = np.int64(i + r)


def radix_sort(scores, slot, scratch):
    """Fill `slot` as `sort_down` does: a pass over each byte of the scores, lowest first, keeping equal bytes in order.

    Bytes that all scores share are skipped. In float32, score and slot fit into one word, so that half as much moves.
    """
    _radix_sort64(scores, slot, scratch)


@overload(radix_sort, jit_options=UNCOUNTED, strict=False)
def _radix_sort(scores: Any, slot: Any, scratch: Any) -> Any:
    return _radix_sort32 if scores.dtype == types.float32 else _radix_sort64


def _radix_sort32(scores, slot, scratch):
    n, half, differ = np.uint64(scores.size), np.uint64(32), np.uint64(0)
    for i in range(n):
        scratch.word[i] = (descending_bits(scores[i]) << half) | i
        differ |= scratch.word[i] ^ scratch.word[np.uint64(0)]
    word, other_word = scratch.word, scratch.other_word
    for byte in range(4, 8):
        shift = np.uint64(8 * byte)
        if (differ >> shift) & np.uint64(_DIGITS - 1) == 0:
            continue
        _starts_of_digits(n, shift, word, scratch.digit_count)
        for i in range(n):
            digit = (word[i] >> shift) & np.uint64(_DIGITS - 1)
            other_word[np.uint64(scratch.digit_count[digit])] = word[i]
            scratch.digit_count[digit] += 1
        word, other_word = other_word, word
    for i in range(n):
        slot[i] = np.int64(word[i] & np.uint64(2**32 - 1))


def _radix_sort64(scores, slot, scratch):
    n, differ = np.uint64(scores.size), np.uint64(0)
    for i in range(n):
        scratch.word[i] = descending_bits(scores[i])
        scratch.index[i] = np.int64(i)
        differ |= scratch.word[i] ^ scratch.word[np.uint64(0)]
    word, other_word = scratch.word, scratch.other_word
    index, other_index = scratch.index, scratch.other_index
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if (differ >> shift) & np.uint64(_DIGITS - 1) == 0:
            continue
        _starts_of_digits(n, shift, word, scratch.digit_count)
        for i in range(n):
            digit = (word[i] >> shift) & np.uint64(_DIGITS - 1)
            place = np.uint64(scratch.digit_count[digit])
            scratch.digit_count[digit] += 1
            other_word[place], other_index[place] = word[i], index[i]
        word, other_word = other_word, word
        index, other_index = other_index, index
    for i in range(n):
        slot[i] = index[i]


@uncounted
def _starts_of_digits(n, shift, word, start):
    """Fill `start` with where the words with each value of one byte begin in the order of that byte."""
    for digit in range(_DIGITS):
        start[digit] = 0
    for i in range(n):
        start[(word[i] >> shift) & np.uint64(_DIGITS - 1)] += 1
    total = np.int64(0)
    for digit in range(_DIGITS):
        here = start[digit]
        start[digit] = total
        total += here


@inner
def shell_sort(key, slot):
    """Sort `key` downwards and `slot` with it, in place; equal keys go by slot.

    Parameters
    ----------
    key, slot : arrays
        Numbers to sort by, and integers that move with them.
    """
    gap = 1
    while gap < key.size // 4:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        _insert(key, slot, np.uint64(gap), key.size * key.size)
        gap = gap * 4 // 9


@uncounted
def _insert(key, slot, gap, most_moves):
    """Insert each element among those at multiples of `gap` before it; False if that takes more than `most_moves`.

    Indices are unsigned: a signed one might be negative, and every access would test for it.
    """
    for i in range(gap, np.uint64(key.size)):
        k, s = key[i], slot[i]
        j = np.uint64(i)
        while j >= gap and (key[j - gap] < k or (key[j - gap] == k and slot[j - gap] > s)):
            key[j] = key[j - gap]
            slot[j] = slot[j - gap]
            j -= gap
            most_moves -= 1
        key[j] = k
        slot[j] = s
        if most_moves < 0:
            return False
    return True


@uncounted
def select_top(key, slot, k, spare):
    """Bring the slots of the k largest keys to the front, both parts by slot; `key` stays by slot.

    `slot` holds what the round before found: the least of those k keys is a bound that few others reach. The result
    doesn't depend on it: of documents that tie for the k-th place, the first ones by slot are taken.
    """
    n = key.size
    bound = key[slot[0]]
    for i in range(k):
        bound = min(bound, key[slot[i]])
    candidates = 0
    for i in range(n):
        spare[candidates] = key[i]
        candidates += 1 if key[i] >= bound else 0
    edge = _kth_largest(spare, candidates, k)
    ties = k
    for i in range(n):
        ties -= 1 if key[i] > edge else 0
    front, back = 0, k
    for i in range(n):
        same = 1 if key[i] == edge else 0
        ahead = 1 if key[i] > edge or (same and ties > 0) else 0
        slot[front if ahead else back] = i
        front += ahead
        back += 1 - ahead
        ties -= same


@uncounted
def _kth_largest(key, n, k):
    """Return the k-th largest of the first n keys, which are left in another order."""
    for i in range(1, n):
        here = key[i]
        j = i if i < k else k - 1
        if i >= k and here <= key[k - 1]:
            continue
        while j > 0 and key[j - 1] < here:
            key[j] = key[j - 1]
            j -= 1
        key[j] = here
    return key[k - 1]
