"""Random numbers for kernels from a counter: f(seed, round, query, draw), the same on any number of threads.

Words of 32 bits in plain integers: their products fit in 64 bits, so that compiled and interpreted code
agree.
"""

import numpy as np

from rankwood._core.jit import inner, like, log

_MASK = 0xFFFFFFFF
_TURN = 2.0 * float(np.pi)


@inner
def mix(state, word):
    """Return a new word of 32 bits from two: Murmur3's finalizer over their combination."""
    # Combined by exclusive or: sums would make the numbers of two states parts of one sequence.
    h = state ^ ((word * 0x9E3779B1 + 0x7F4A7C15) & _MASK)
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    return h ^ (h >> 16)


def begin(seed: int, round: int) -> int:
    """Return the state of a round: all bits of seed and round count."""
    state = 0
    for number in (int(seed), int(round)):
        state = mix(state, number & _MASK)
        if number > _MASK:
            state = mix(state, number >> 32)
    return state


@inner
def shuffle(order, state):
    """Shuffle `order` in place (Fisher and Yates)."""
    for i in range(order.size - 1, 0, -1):
        j = mix(state, i) % (i + 1)
        order[i], order[j] = order[j], order[i]


# Numbers from a state of 32 bits and a counter, in the precision of the first argument. The 32 bits of a hash, in
# the middle of their interval: never 0.


@inner
def uniform(real, state, i):
    """Return the i-th uniform number between 0 and 1."""
    return (like(real, mix(state, i)) + like(real, 0.5)) * like(real, 2.0**-32)


@inner
def odds(real, state, i):
    """Return u / (1 - u) of the i-th uniform number u, with all its digits at both ends."""
    h = mix(state, i)
    return (like(real, h) + like(real, 0.5)) / (like(real, _MASK - h) + like(real, 0.5))


@inner
def normal(real, state, i):
    """Return the i-th standard normal number, by Box and Muller's transform."""
    far = np.sqrt(like(real, -2.0) * log(uniform(real, state, 2 * i)))
    return far * np.cos(like(real, _TURN) * uniform(real, state, 2 * i + 1))
