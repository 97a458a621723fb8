"""A slow reader of LETOR text, written for being obviously right; tests compare with it."""

import math
from fractions import Fraction

import numpy as np


def nearest32(text: str) -> np.float32:
    """Round a decimal number to the nearest float32, ties to even, in exact arithmetic."""
    exact = Fraction(text)
    size = abs(exact)
    if size == 0:
        return np.float32(-0.0 if text.startswith("-") else 0.0)
    # The exponent of the last bit: the least one that a float32 can have, or one that is too small for sure.
    exponent = max(-149, size.numerator.bit_length() - size.denominator.bit_length() - 26)
    while size >= Fraction(2) ** (exponent + 24):
        exponent += 1
    units, rest = divmod(size / Fraction(2) ** exponent, 1)
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and units % 2):
        units += 1
    value = math.copysign(math.ldexp(int(units), exponent), -1 if text.startswith("-") else 1)
    return np.float32(value)


def naive_letor(text: str, absent: float = 0.0, missing: tuple = ()) -> tuple:
    """Return matrix, labels, query ids (text) and comments of LETOR text without faults."""
    rows = []
    words = {"nan", "null", *(word.lower() for word in missing)}
    for line in text.split("\n"):
        body, _, comment = line.partition("#")
        tokens = body.split()
        if not tokens:
            continue
        pairs = [token.split(":") for token in tokens[2:]]
        rows.append((float(tokens[0]), tokens[1][4:], dict(pairs), comment.strip(" \t\r")))
    width = max(int(index) for row in rows for index in [0, *row[2]])
    X = np.full((len(rows), width), absent, dtype=np.float32)
    for i, row in enumerate(rows):
        for index, value in row[2].items():
            X[i, int(index) - 1] = np.nan if value.lower() in words else nearest32(value)
    return X, np.array([r[0] for r in rows]), [r[1] for r in rows], [r[3] for r in rows]
