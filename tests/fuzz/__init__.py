"""Hostile inputs by the million, from generators: `python -m tests.fuzz --minutes 30`.

A kind of input is a module with two functions: `make(rng)` returns an input as bytes, and `run(data)` gives it to
Rankwood and returns "accepted". An `InputError` means that the input was refused, which is good; every other exception
is foreign. `run` raises `Wrong` if an independent reader comes to another result. Input i of a kind depends on the
seed, the kind and i alone.
"""

import random


class Wrong(Exception):
    """Rankwood accepted, refused or computed something that an independent reader does otherwise."""


def generator(kind: str, seed: int, index: int) -> random.Random:
    """Return the source of all that is random in one input."""
    return random.Random(f"{kind} {seed} {index}")


def damaged(rng: random.Random, data: bytes, alphabet: bytes, most: int = 3) -> bytes:
    """Return data after a few small changes: bytes replaced, inserted, removed, repeated, or the end cut off."""
    out = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randint(0, len(out))
        change = rng.randrange(6)
        if change == 0:
            out[at : at + 1] = bytes([rng.choice(alphabet)])
        elif change == 1:
            out[at:at] = bytes([rng.choice(alphabet)])
        elif change == 2:
            del out[at : at + rng.randint(1, 4)]
        elif change == 3:
            out[at:at] = out[at : at + rng.randint(1, 12)]
        elif change == 4:
            other = rng.randint(0, len(out))
            out[at:at] = out[other : other + rng.randint(1, 20)]
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)
