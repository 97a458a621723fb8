"""Batches of whole lists, with about the same number of documents in each."""

import numpy as np

_SIMILAR = 0.2  # lists are sorted by length times a random factor of up to exp(0.2)


def training_batches(
    lengths: np.ndarray, documents: int, rng: np.random.Generator, by_length: bool
) -> list[np.ndarray]:
    """Return the lists of each batch, at random.

    Parameters
    ----------
    lengths : array
        Documents of each list.
    documents : int
        A batch is full once it has so many documents; the last one may be no more than half full.
    rng : Generator
        Draws the batches.
    by_length : bool
        Whether lists of similar lengths come together, for networks that pad lists.
    """
    if by_length:
        key = np.log(lengths) + _SIMILAR * rng.random(lengths.size)
        order = np.argsort(key, kind="stable")
    else:
        order = rng.permutation(lengths.size)
    return _cut(order, lengths, documents)


def scoring_batches(lengths: np.ndarray, documents: int, by_length: bool) -> list[np.ndarray]:
    """Return the lists of each batch in which scores are computed."""
    order = np.argsort(lengths, kind="stable") if by_length else np.arange(lengths.size)
    return _cut(order, lengths, documents)


def _cut(order: np.ndarray, lengths: np.ndarray, documents: int) -> list[np.ndarray]:
    """Cut an order of lists into batches; the last one joins the one before if it is less than half full."""
    ends = np.cumsum(lengths[order])
    cuts: list[int] = []
    start = 0
    while start < order.size:
        done = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, done + documents)) + 1
        least = max(documents / 2, 2)  # batch normalisation needs two documents
        if cuts and stop > order.size - 1 and ends[-1] - done < least:
            stop = order.size
            cuts.pop()
        cuts.append(min(stop, order.size))
        start = cuts[-1]
    return np.split(order, cuts[:-1])


def rows_of(batch: np.ndarray, ptr: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the rows of the lists of a batch, list by list, if list q has rows `ptr[q]` to `ptr[q + 1]`."""
    sizes = lengths[batch]
    starts = np.repeat(ptr[batch] - (np.cumsum(sizes) - sizes), sizes)
    return starts + np.arange(starts.size)
