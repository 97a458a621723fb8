"""Random numbers for kernels from a counter: f(seed, round, query, draw), the same on any number of threads.

Words of 32 bits in plain integers: their products fit in 64 bits, so that compiled and interpreted code
agree.
"""

import numpy as np

from rankwood._core.compile import uncounted
from rankwood._core.numeric import as_type_of, log

_MASK = 0xFFFFFFFF
_TURN = 2.0 * float(np.pi)


@uncounted
def mix(state, word):
    """Return a new word of 32 bits from two: Murmur3's finalizer over their combination."""
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
    """Shuffle the first n numbers of `order` in place (Fisher and Yates)."""
    for i in range(n - 1, 0, -1):
        j = mix(state, i) % (i + 1)
        order[i], order[j] = order[j], order[i]


# Numbers from a state of 32 bits and a counter, in the precision of the first argument. The 32 bits of a hash, in
# the middle of their interval: never 0.


@uncounted
def uniform(real, state, i):
    """Return the i-th uniform number between 0 and 1."""
    return (as_type_of(real, mix(state, i)) + as_type_of(real, 0.5)) * as_type_of(real, 2.0**-32)


@uncounted
def odds(real, state, i):
    """Return u / (1 - u) of the i-th uniform number u, with all its digits at both ends."""
    h = mix(state, i)
    return (as_type_of(real, h) + as_type_of(real, 0.5)) / (
        as_type_of(real, _MASK - h) + as_type_of(real, 0.5)
    )


@uncounted
def normal(real, state, i):
    """Return the i-th standard normal number, by Box and Muller's transform."""
    far = np.sqrt(as_type_of(real, -2.0) * log(uniform(real, state, 2 * i)))
    return far * np.cos(as_type_of(real, _TURN) * uniform(real, state, 2 * i + 1))
