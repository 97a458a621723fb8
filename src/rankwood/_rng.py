"""Random numbers for kernels from a counter: f(seed, round, query, draw), the same on any number of threads.

Words of 32 bits in plain integers: their products fit in 64 bits, so that compiled and interpreted code
agree.
"""

from rankwood._jit import inner

_MASK = 0xFFFFFFFF


@inner
def mix(state, word):
    """Return a new word of 32 bits from two: Murmur3's finalizer over their combination."""
    h = (state * 0x9E3779B1 + word + 0x7F4A7C15) & _MASK
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    return h ^ (h >> 16)


@inner
def shuffle(order, state):
    """Shuffle `order` in place (Fisher and Yates)."""
    for i in range(order.size - 1, 0, -1):
        j = mix(state, i) % (i + 1)
        order[i], order[j] = order[j], order[i]
