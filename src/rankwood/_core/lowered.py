"""The classes kernels see: one named tuple per part, kept here so that compiled code on disk can always name them.

Numba pickles these classes by reference into the index of its disk cache, and one name that can't be
resolved makes the whole index unreadable. A part may live in a script, a notebook or a module that
the next process doesn't have, so every class lives here, and a name nobody has registered yet gives
an empty stand-in that equals no real part.
"""

import re
from typing import Any


def __getattr__(name: str) -> Any:
    if not re.fullmatch(r"\w+_[0-9a-f]{16}", name):  # a part's name and the digest of its sources
        raise AttributeError(name)
    stand_in = type(name, (tuple,), {"__module__": __name__, "_fields": ()})
    return globals().setdefault(name, stand_in)
