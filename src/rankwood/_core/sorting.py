"""What a kernel sees of a query, and how documents are put in order.

Vocabulary. A *row* is a document's place in the caller's arrays; rows of a query need not be
adjacent. Kernels work on a *plan*: documents grouped by query, `rows[p]` giving the caller's row of
plan position p, query q at positions `ptr[q]` to `ptr[q + 1]`. Inside a query a document has a *slot*
(its place in the plan) and a *rank* (0-based place by decreasing score; equal scores by slot).
Positions are 0-based in code, 1-based only in prose.
"""

from collections import namedtuple

import numpy as np

from rankwood._core.jit import digits, inner

SHORT = 400  # lists of up to so many documents are sorted by counting

#: One query in rank order: labels, scores (relative to the middle of their range), slot of each rank,
#: and the discounts 1 / log2(2 + rank) of a list long enough. In the pair loop the list is filled up with
#: copies of the last document that have no label (NaN): a column by rank has as many entries as `slot`.
Query = namedtuple("Query", "label score slot table")


def discounts(size: int) -> np.ndarray:
    """Discounts 1 / log2(1 + position) of positions 1 to `size`."""
    return 1.0 / np.log2(np.arange(2.0, size + 2.0))


@inner
def arrange(key, slot):
    """Sort `key` downwards and `slot`, the numbers from 0, with it; equal keys by slot, in place.

    Scores move little between rounds, so the order of the round before is repaired by insertion, and
    only an order that is far off is sorted from scratch. The comparison is total, so the result depends
    neither on the order found nor on the way taken.
    """
    n = key.size
    if _insert(key, slot, np.uint64(1), 2 * n + 16):
        return
    if n > SHORT:
        resort(key, slot)
        return
    by_slot = np.empty(n)
    for i in range(n):
        by_slot[slot[i]] = key[i]
    count(by_slot, key, slot)


@inner
def count(scores, key, slot):
    """Fill `key` and `slot` with what `arrange` makes of `scores`, by counting how many are above each.

    The fastest way for short lists, as it has no branches and vectorises; four go over the list together.
    """
    n = np.uint64(scores.size)
    used = np.empty(scores.size, np.int64)  # of equal scores, how many have their place already
    for i in range(n):
        used[i] = 0
    last = n - np.uint64(1)
    zero, one = digits(scores[0])
    for i in range(np.uint64(0), n, np.uint64(4)):
        s0 = scores[i]
        s1 = scores[i + np.uint64(1) if i + np.uint64(1) < n else last]
        s2 = scores[i + np.uint64(2) if i + np.uint64(2) < n else last]
        s3 = scores[i + np.uint64(3) if i + np.uint64(3) < n else last]
        p0 = p1 = p2 = p3 = zero
        for j in range(n):  # numbers as wide as the scores: they fill the same vectors
            p0 += one if scores[j] > s0 else zero
            p1 += one if scores[j] > s1 else zero
            p2 += one if scores[j] > s2 else zero
            p3 += one if scores[j] > s3 else zero
        for r in range(np.uint64(4)):
            if i + r < n:
                above = np.int64(p0 if r == 0 else (p1 if r == 1 else (p2 if r == 2 else p3)))
                place = above + used[above]
                used[above] += 1
                key[place] = scores[i + r]
                slot[place] = np.int64(i + r)


@inner
def resort(key, slot):
    """Sort `key` downwards and `slot` with it, equal keys by slot, whatever the slots are (Shell's way)."""
    gap = 1
    while gap < key.size // 4:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        _insert(key, slot, np.uint64(gap), key.size * key.size)
        gap = gap * 4 // 9


@inner
def _insert(key, slot, gap, moves):
    """Insert each element among those at multiples of `gap` before it; False if that takes more than `moves`.

    Indices are unsigned: a signed one might be negative, and every access would test for it.
    """
    for i in range(gap, np.uint64(key.size)):
        k, s = key[i], slot[i]
        j = np.uint64(i)
        while j >= gap and (key[j - gap] < k or (key[j - gap] == k and slot[j - gap] > s)):
            key[j] = key[j - gap]
            slot[j] = slot[j - gap]
            j -= gap
            moves -= 1
        key[j] = k
        slot[j] = s
        if moves < 0:
            return False
    return True


@inner
def choose(key, slot, k, spare):
    """Bring the slots of the k largest keys to the front, both parts by slot; `key` stays by slot.

    `slot` holds what the round before found: the least of those k keys is a bound that few others reach.
    What is found doesn't depend on that: the k-th largest key is a number, and among documents that
    have it the first ones by slot are taken.
    """
    n = key.size
    bound = key[slot[0]]
    for i in range(k):
        bound = min(bound, key[slot[i]])
    count = 0
    for i in range(n):
        spare[count] = key[i]
        count += 1 if key[i] >= bound else 0
    edge = _kth(spare, count, k)
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


@inner
def _kth(key, count, k):
    """k-th largest of the first `count` keys, which are left in another order."""
    for i in range(1, count):
        here = key[i]
        j = i if i < k else k - 1
        if i >= k and here <= key[k - 1]:
            continue
        while j > 0 and key[j - 1] < here:
            key[j] = key[j - 1]
            j -= 1
        key[j] = here
    return key[k - 1]
