"""Generated ranking data, for tests, examples and benchmarks.

All arithmetic is exactly specified to the last bit (no logarithms, no library sums), so a seed gives the
same data on every machine and under every version of NumPy.
"""

import numpy as np

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData

#: Shares of the documents with a label of at least 1, 2, 3 and 4.
_SHARES = (0.42, 0.2, 0.08, 0.025)
_SIGNAL = 9  # columns that carry information about the label
_DIGITS = 1000  # values have three decimals, which keeps files small


def make_ranking(
    queries: int,
    documents: int | tuple[int, int] = (10, 40),
    features: int = 20,
    seed: int = 0,
    *,
    noise: float = 0.35,
    missing: float = 0.1,
) -> RankingData:
    """Generate a data set with graded labels from 0 to 4, most of them 0.

    The relevance of a document is a mixture of two non-linear functions of its features, and the proportions
    are a feature of the query. The level of the features differs between queries
    too, and some queries have few relevant documents or none. The remaining columns are noise: bell
    shaped, uniform, or counts that are mostly zero.

    Parameters
    ----------
    queries : int
        Number of queries, with ids from 1 on.
    documents : int or (int, int)
        Documents per query, or the least and the largest number.
    features : int
        Number of features, at least 9; the order of the columns is random.
    seed : int
        The same seed gives the same data, to the last bit.
    noise : float
        Weight of random noise in the labels, from 0 to 1; the features have the rest.
    missing : float
        Share of missing values (NaN) in one feature of three, from 0 to 1.

    Returns
    -------
    RankingData
        The documents of a query are adjacent, in random order.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.make_ranking(50, documents=20)
    RankingData(1,000 documents, 50 queries, 20 features, labels 0 to 4)
    """
    rng = np.random.Generator(np.random.PCG64(checks.at_least(seed, 0, "seed")))
    sizes = _sizes(rng, checks.at_least(queries, 1, "queries"), documents)
    checks.at_least(features, _SIGNAL, "features")
    kind = np.repeat(rng.random(queries), sizes)
    level = np.repeat(_bell(rng, queries), sizes)
    relevance, signal = _signal(rng, kind, level)
    share = _share(noise, "noise")
    # The query's own ease spreads its documents over the grades, up or down together.
    ease = np.repeat(_bell(rng, queries), sizes)
    y = _grades((1 - share) * relevance + share * _bell(rng, kind.size) + 0.7 * ease)
    columns = [*signal, *_noise(rng, features - _SIGNAL, kind.size)]
    _drop(rng, columns, _share(missing, "missing"))
    order = np.argsort(rng.random(features), kind="stable")
    X = np.stack([np.floor(columns[i] * _DIGITS + 0.5) / _DIGITS for i in order], axis=1)
    qid = np.repeat(np.arange(1, queries + 1), sizes)
    return RankingData(X.astype(np.float32), y, qid=qid)


def _sizes(rng: np.random.Generator, queries: int, documents: int | tuple[int, int]) -> np.ndarray:
    low, high = documents if isinstance(documents, tuple) else (documents, documents)
    low = checks.at_least(low, 1, "documents")
    high = checks.at_least(high, low, "documents")
    return low + (rng.random(queries) * (high - low + 1)).astype(np.int64)


def _share(value: float, name: str) -> float:
    if not 0 <= checks.finite(value, name) <= 1:
        raise checks.InputError(f"{name} must be from 0 to 1, got {value}.")
    return float(value)


def _bell(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return sums of three uniform numbers: nearly normal, with mean 0 and variance 1."""
    a, b, c = (rng.random(size) for _ in range(3))
    return 2 * (a + b + c - 1.5)


def _signal(
    rng: np.random.Generator, kind: np.ndarray, level: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the relevance of documents, and the columns that carry information about it."""
    size = kind.size
    match, title, link, fresh, spam = (_bell(rng, size) for _ in range(5))
    topical = np.maximum(match, title) + 0.5 * match * title
    # Newest is not best: there is a right age. Links count, with diminishing returns.
    popular = 2 * link / (1 + np.abs(link)) - 1.2 * np.abs(fresh - 0.4) + 1
    relevance = kind * topical + (1 - kind) * popular - 1.5 * (spam > 1)
    columns = [
        kind,
        match + 0.5 * level,
        title * np.abs(title) + level,  # stretched, in order
        np.maximum(link, -0.2) + 0.2,  # zero for most of the lower half
        fresh,
        1 / (1 + np.maximum(0, spam + 1)),
        0.6 * match + 0.3 * title + _bell(rng, size) + level,
        0.5 * link - 0.4 * fresh + 1.2 * _bell(rng, size),
        0.35 * relevance + _bell(rng, size),
    ]
    assert len(columns) == _SIGNAL
    return relevance, columns


def _grades(relevance: np.ndarray) -> np.ndarray:
    """Return labels by rank, so that grades have the same shares in every data set."""
    rank = np.empty(relevance.size)
    rank[np.argsort(-relevance, kind="stable")] = np.arange(relevance.size)
    share = (rank + 0.5) / relevance.size
    y = np.zeros(relevance.size)
    for bound in _SHARES:
        y += share < bound
    return y


def _noise(rng: np.random.Generator, columns: int, size: int) -> list[np.ndarray]:
    def counts() -> np.ndarray:
        return np.floor(np.maximum(0, 3 * _bell(rng, size) - 1))

    kinds = (lambda: _bell(rng, size), lambda: rng.random(size), counts)
    return [kinds[i % 3]() for i in range(columns)]


def _drop(rng: np.random.Generator, columns: list[np.ndarray], missing: float) -> None:
    """Set every third column to NaN, in place, for the same random documents."""
    incomplete = rng.random(columns[0].size) < missing
    for column in columns[1::3]:
        column[incomplete] = np.nan
