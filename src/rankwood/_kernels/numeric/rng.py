"""All random numbers of the package: functions of a seed and a counter, so that threads never change a bit.

Kernels draw from words of 32 bits, f(seed, round, query, draw): their products fit in 64 bits, so that compiled and
interpreted code agree. Statistics and hashes use words of 64 bits (`splitmix64`). Everything else uses NumPy's
generators: `generator` for a stream of draws, `generator_at` for one round of them.
"""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import jit, uncounted
from rankwood._kernels.numeric.elementary import cos_turns, log, log1p
from rankwood._kernels.numeric.scalars import as_type_of

_MASK = 0xFFFFFFFF
_SPLIT_FIRST, _SPLIT_SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BITS_30, _BITS_27, _BITS_31 = np.uint64(30), np.uint64(27), np.uint64(31)


@uncounted
def mix(state: Any, word: Any) -> Any:
    """Return a new word of 32 bits from two: Murmur3's finalizer over their combination.

    Parameters
    ----------
    state, word : int
        Two words, such as the random state of a query and a counter.

    Returns
    -------
    int
        A random state.

    Examples
    --------
    >>> from rankwood.extend import mix
    >>> mix(1, 2) == mix(1, 2) != mix(1, 3)
    True
    """
    # Combined by exclusive or: sums would make the numbers of two states parts of one sequence.
    h = state ^ ((word * 0x9E3779B1 + 0x7F4A7C15) & _MASK)
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    return h ^ (h >> 16)


def round_state(seed: int, round: int) -> int:
    """Return the random state of a round, from all bits of seed and round."""
    state = 0
    for number in (int(seed), int(round)):
        state = mix(state, number & _MASK)
        if number > _MASK:
            state = mix(state, number >> 32)
    return state


@uncounted
def shuffle(order, n, state):
    """Shuffle the first n numbers of `order` in place (Fisher and Yates).

    Parameters
    ----------
    order : array
        Numbers to shuffle.
    n : int
        How many of them.
    state : int
        Random state, as from `mix`.

    Examples
    --------
    >>> from rankwood.extend import shuffle
    >>> order = [0, 1, 2, 3]
    >>> shuffle(order, 4, 1)
    >>> sorted(order)
    [0, 1, 2, 3]
    """
    for i in range(n - 1, 0, -1):
        j = mix(state, i) % (i + 1)
        order[i], order[j] = order[j], order[i]


# Numbers from a state of 32 bits and a counter, in the precision of the first argument. The 32 bits of a hash, in
# the middle of their interval: never 0.


@uncounted
def uniform(real, state, i):
    """Return the i-th uniform number between 0 and 1, in the precision of `real`.

    Parameters
    ----------
    real : float
        Any number in the precision that is wanted.
    state, i : int
        Random state and counter.

    Returns
    -------
    float
        The number, above 0 and below 1.

    Examples
    --------
    >>> from rankwood.extend import uniform
    >>> 0 < uniform(1.0, 5, 0) < 1
    True
    """
    return (as_type_of(real, mix(state, i)) + as_type_of(real, 0.5)) * as_type_of(real, 2.0**-32)


@uncounted
def odds(real, state, i):
    """Return u / (1 - u) of the i-th uniform number u, with all its digits at both ends.

    Parameters
    ----------
    real : float
        Any number in the precision that is wanted.
    state, i : int
        Random state and counter.

    Returns
    -------
    float
        The odds, above 0.

    Examples
    --------
    >>> from rankwood.extend import odds
    >>> odds(1.0, 5, 0) > 0
    True
    """
    h = mix(state, i)
    return (as_type_of(real, h) + as_type_of(real, 0.5)) / (
        as_type_of(real, _MASK - h) + as_type_of(real, 0.5)
    )


@uncounted
def normal(real, state, i):
    """Return the i-th standard normal number, by Box and Muller's transform.

    Parameters
    ----------
    real : float
        Any number in the precision that is wanted.
    state, i : int
        Random state and counter.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> from rankwood.extend import normal
    >>> bool(abs(normal(1.0, 5, 0)) < 7)
    True
    """
    far = np.sqrt(as_type_of(real, -2.0) * log(uniform(real, state, 2 * i)))
    return far * cos_turns(uniform(real, state, 2 * i + 1))


@jit
def fill_normal(state, first, out):
    """Fill an array with the standard normal numbers of a random state, from the number `first` on."""
    for i in range(out.size):
        out[i] = normal(out[i], state, first + i)


@uncounted
def gumbel(real, state, i):
    """Return the i-th number of the standard Gumbel distribution, from -3.2 to 22.9.

    Parameters
    ----------
    real : float
        Any number in the precision that is wanted.
    state, i : int
        Random state and counter.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> from rankwood.extend import gumbel
    >>> bool(-4 < gumbel(1.0, 5, 0) < 23)
    True
    """
    # -ln(-ln(1 - u)): the odds keep the digits of a small u, where documents move far up; 1 - u would be 1 in float32.
    return -log(log1p(odds(real, state, i)))


@uncounted
def splitmix64(x: Any) -> Any:
    """Return 64 bits of which each depends on all bits of `x`: the finalizer of SplitMix64, of a word or an array."""
    x = (x ^ (x >> _BITS_30)) * _SPLIT_FIRST
    x = (x ^ (x >> _BITS_27)) * _SPLIT_SECOND
    return x ^ (x >> _BITS_31)


def generator(seed: int, stream: int | None = None) -> np.random.Generator:
    """Return NumPy's generator of a seed; streams of one seed are independent of each other."""
    return np.random.default_rng(seed if stream is None else [seed, stream])


def uniform_from(seed: int, first: int, last: int) -> np.ndarray:
    """Return the numbers `first` to `last` that `generator(seed).random` draws, without those before."""
    bits = np.random.PCG64(seed)
    bits.advance(first)
    return np.random.Generator(bits).random(last - first)


def uniform_at(seed: int, counter: int, stream: int, first: int, last: int) -> np.ndarray:
    """Return the numbers `first` to `last` that `generator_at(seed, counter, stream).random` draws."""
    bits = np.random.Philox(counter=[0, 0, 0, stream], key=[seed, counter])
    bits.advance(first // 4)  # it draws four numbers at once
    return np.random.Generator(bits).random(last - first + first % 4)[first % 4 :]


def generator_at(seed: int, counter: int, stream: int = 0) -> np.random.Generator:
    """Return a generator that is a function of seed, counter and stream: no round depends on earlier ones."""
    return np.random.Generator(np.random.Philox(counter=[0, 0, 0, stream], key=[seed, counter]))
