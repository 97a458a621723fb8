"""Texts of objectives and metrics: names, parameters and printed parts, damaged or grown beyond measure."""

import random
import time

import rankwood as rw
from rankwood.metrics.registry import METRICS
from rankwood.objectives.families.registry import OBJECTIVES
from tests.fuzz import Wrong, damaged

ALPHABET = b"abckmnrst@()[]{}=,.'\"-+*/%~ \n\t0123456789_:<>|&!#\xc3\xa9\xef\xbc\x91"
_NAMES = {"objective": sorted(OBJECTIVES), "metric": sorted(METRICS)}
_PARAMETERS = [
    "sigma",
    "k",
    "norm",
    "gain",
    "truncation",
    "rel",
    "p",
    "weight",
    "pairs",
    "divide_by",
    "mu",
    "bins",
    "draws",
    "scale",
    "noise",
]
_VALUES = (
    *("1", "2.0", "-1", "0", "1e308", "1e400", "nan", "inf", "True", "none", "'linear'", "exp"),
    *("[1]", "{}", "{1,[2]}", "{[]:1}", "(1,2)", "None", "1j", "b'x'", "f'{1}'", "...", "x", "1_0"),
    *(
        "lambda: 1",
        "__import__('os')",
        "().__class__",
        "9**9**9",
        "Swap(NDCG(10))",
        "Top(k=5)",
        "-(-1)",
    ),
    *("'\\ud800'", "'\\x00'", "\uff11\uff10", "10**400"),
)
_PRINTED = (
    "Lambda(weight=Swap(metric=NDCG(ideal=10)), pairs=Top(k=10))",
    "NDCG(k=10)",
    "Lambda(weight=ByDistance(base=Swap(metric=NDCG())), pairs=All())",
    "Softmax()",
)


def make(rng: random.Random) -> bytes:
    """Return the text of an objective ("o...") or a metric ("m...")."""
    kind = rng.choice(("objective", "metric"))
    text = rng.choice(_NAMES[kind]) if rng.random() < 0.9 else rng.choice(_PRINTED)
    if rng.random() < 0.1:
        text = "bi-" + text
    if rng.random() < 0.4:
        text += "@" + rng.choice(
            ("10", "0", "-1", "1e3", "x", " 5", "9" * rng.choice((3, 30, 5000)))
        )
    if rng.random() < 0.6 and "(" not in text:
        given = [f"{_parameter(rng)}={_value(rng)}" for _ in range(rng.randint(0, 3))]
        text += "(" + ", ".join(given) + ")"
    data = text.encode()
    if rng.random() < 0.4:
        data = damaged(rng, data, ALPHABET)
    if rng.random() < 0.05:
        at = rng.randint(0, len(data))
        data = data[:at] + b" " * rng.choice((100, 3000, 50_000)) + data[at:]
    return kind[:1].encode() + data


def _parameter(rng: random.Random) -> str:
    return (
        rng.choice(_PARAMETERS) if rng.random() < 0.9 else rng.choice(("", "a b", "1", "**x", "k"))
    )


def _value(rng: random.Random) -> str:
    if rng.random() < 0.9:
        return rng.choice(_VALUES)
    size = rng.choice((50, 2000, 6000))
    grown = ("-" * size + "1", "1" + "+1" * size, "x" + ".a" * size, "(" * size, "x" + "()" * size)
    return rng.choice(
        (*grown, "[" * size + "]" * size, "lambda:" * size, "9" * size, "'" + "x" * size + "'")
    )


def run(data: bytes) -> str:
    """Read a text; what is accepted must print as a text of the same thing."""
    text = data[1:].decode(errors="surrogateescape")
    read = rw.objective if data[:1] == b"o" else rw.metric
    began = time.process_time()
    try:
        made = read(text)
    finally:
        if time.process_time() - began > 5.0:
            raise Wrong("it took more than 5 s")
    if read(repr(made)) != made:
        raise Wrong(f"{made!r} isn't read back as the same")
    return "accepted"
