"""A kind of input that crashes, hangs and fails, for the test of the campaigns."""

import os
import random
import signal


def make(rng: random.Random) -> bytes:
    """Return a byte that says what happens."""
    return b"%d" % rng.randrange(4)


def run(data: bytes) -> str:
    """Do what an input says."""
    what = int(data)
    if what == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == 1:
        while True:
            pass
    if what == 2:
        raise KeyError("foreign")
    return "accepted"
