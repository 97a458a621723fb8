"""LETOR text against a reader of its grammar by regular expressions, with exact rounding."""

import contextlib
import os
import random
import re
import tempfile
from typing import NamedTuple
from unittest import mock

import numpy as np

from rankwood.data.letor import blocks, join, load_letor
from rankwood.data.letor import memory_budget as budget
from rankwood.data.letor import read as reader
from tests.fuzz import Wrong, damaged
from tests.oracles.naive_letor import nearest32

ALPHABET = b"0123456789.:-+eEqidnaNA #\t\r\n\x0b\x0c,x/_\xc3\xa9\xff;'\""
_REAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAN = re.compile(rb"[+-]?nan", re.IGNORECASE)
_FEATURE = re.compile(rb"([0-9]+):(.*)", re.DOTALL)
_WIDEST = 2000  # features of a matrix that we compare: others are a question of memory
_LARGEST = 2**31


class Refused(Exception):
    """The text isn't LETOR."""


class Unknown(Exception):
    """The grammar leaves it open, or memory decides."""


class Expected(NamedTuple):
    """What text holds."""

    X: np.ndarray
    y: list[float]
    qid: list[bytes]
    comments: list[bytes]


def make(rng: random.Random) -> bytes:
    """Return text with up to 60 documents, most often a few; in more than half of all texts a few bytes are damaged."""
    size = 60 if rng.random() < 0.04 else rng.choice((1, 1, 1, 2, 2, 3, 4, 8))
    text = b"".join(_line(rng, size < 9) for _ in range(size))
    if rng.random() < 0.2:
        text = text.rstrip(b"\n")
    return damaged(rng, text, ALPHABET) if rng.random() < (0.7 if size < 9 else 0.3) else text


def lines(data: bytes) -> int:
    """Return the number of documents of a text that is accepted."""
    return max(1, data.count(b"qid:"))


def _line(rng: random.Random, any_value: bool) -> bytes:
    """Return a document; long texts have no value that is too large, as they would nearly all be refused."""
    if rng.random() < 0.05:
        return rng.choice((b"\n", b"# only a comment\n", b"\r\n", b"  \t\n"))
    label = rng.choice((b"0", b"1", b"2", b"4", b"0.5", b"3.0", b"1e1", b"31"))
    qid = rng.choice((b"1", b"2", b"10", b"007", b"a", b"-3", b"q/7", b"12345678901234567890"))
    indices = rng.sample(range(1, rng.choice((4, 12, 200))), rng.randint(0, 3))
    pairs = [b"%d:%s" % (i, _value(rng, any_value)) for i in sorted(indices)]
    comment = rng.choice(
        (b"", b"", b" # docid = A%d" % rng.randrange(9), b"#x", b" #", b" # a # b")
    )
    blank = rng.choice((b" ", b" ", b" ", b"  ", b"\t"))
    return (
        blank.join([label, b"qid:" + qid, *pairs]) + comment + rng.choice((b"\n", b"\n", b"\r\n"))
    )


def _value(rng: random.Random, any_value: bool) -> bytes:
    kind = rng.randrange(9)
    if kind == 0:
        large = b"1e39" if any_value else b"1e38"
        return rng.choice((b"nan", b"NaN", b"0", b"-0", b"1e-46", b"7e-46", b"3.4028235e38", large))
    if kind == 1:  # close to the middle of two float32
        base = np.float32(rng.uniform(-1, 1) * 10.0 ** rng.randint(-40, 37))
        after = np.nextafter(base, np.float32(np.inf))
        middle = (float(base) + float(after)) / 2
        return (b"%.30g" if rng.random() < 0.5 else b"%.120g") % middle
    if kind == 2:
        size = rng.choice((3, 20, 45) if any_value else (3, 20, 30))
        digits = b"".join(b"%d" % rng.randrange(10) for _ in range(size))
        point = rng.randint(0, len(digits))
        return digits[:point] + b"." + digits[point:] if rng.random() < 0.8 else digits
    if kind == 3:
        return b"%.6e" % (rng.uniform(-9, 9) * 10.0 ** rng.randint(-46, 39 if any_value else 37))
    return b"%.*g" % (rng.choice((3, 6, 9, 17)), rng.gauss(0, 10.0 ** rng.randint(-3, 3)))


def expected(text: bytes) -> Expected:
    """Return what text holds; raise `Refused` if it isn't LETOR."""
    if b"\0" in text or text.startswith((b"\xef", b"\xfe", b"\xff", b"\x1f\x8b")):
        raise Unknown
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Unknown from None
    rows = []
    for line in text.split(b"\n"):
        body, _, comment = line.partition(b"#")
        tokens = [token for token in re.split(rb"[ \t\r]+", body) if token]
        if tokens:
            rows.append((*_head(tokens), _features(tokens[2:]), comment.strip(b" \t\r")))
    if not rows:
        raise Refused
    width = max((i for row in rows for i in row[2]), default=0)
    if width > _WIDEST:
        raise Unknown
    X = np.zeros((len(rows), width), np.float32)
    for r, row in enumerate(rows):
        for i, value in row[2].items():
            X[r, i - 1] = value
    return Expected(X, [r[0] for r in rows], [r[1] for r in rows], [r[3] for r in rows])


def _head(tokens: list[bytes]) -> tuple[float, bytes]:
    """Return the label and the query id of a line."""
    if not _REAL.fullmatch(tokens[0]):
        raise Refused
    label = float(tokens[0])
    if (
        not 0 <= label < np.inf
        or len(tokens) < 2
        or not re.fullmatch(rb"qid:.+", tokens[1], re.DOTALL)
    ):
        raise Refused
    if 0 < label < 1e-300 or len(tokens[0]) > 25:
        raise Unknown  # labels of so many digits are rounded by a rule of their own
    return label, tokens[1][4:]


def _features(tokens: list[bytes]) -> dict[int, np.float32]:
    """Return the values of a line by index."""
    found: dict[int, np.float32] = {}
    for token in tokens:
        pair = _FEATURE.fullmatch(token)
        if pair is None or len(pair[1]) > 4000 or not 1 <= int(pair[1]) <= _LARGEST:
            raise Refused
        index = int(pair[1])
        if index in found:
            raise Refused
        found[index] = _rounded(pair[2])
    return found


def _rounded(text: bytes) -> np.float32:
    """Return the nearest float32 of a decimal number, rounded once."""
    if _NAN.fullmatch(text):
        return np.float32(np.nan)
    if not _REAL.fullmatch(text):
        raise Refused
    double = float(text)
    # Rounding twice is wrong only in the middle of two float32, and where there are fewer bits.
    bits = int(np.float64(double).view(np.uint64)) & 0x1FFFFFFF
    if bits == 0x10000000 or 0 < abs(double) < 1.2e-38 or (double == 0 and abs(len(text)) > 3):
        if abs(double) > 1e39 or re.search(rb"[eE][+-]?\d{4,}", text):
            raise Unknown
        value = nearest32(text.decode())
    else:
        with np.errstate(over="ignore"):
            value = np.float32(double)
    if np.isinf(value):
        raise Refused
    return value


class _Inline:
    """Runs what it is given at once: starting a thread takes ten times as long as reading a short text."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, work, items):
        return map(work, items)

    def submit(self, work):
        work()
        return self

    def result(self):
        pass


_file = os.path.join(
    "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir(), f"fuzz-{os.getpid()}.txt"
)


@contextlib.contextmanager
def fast():
    """Read small blocks, without threads, and without a look at the free memory of the machine."""
    patches = (
        mock.patch.object(reader, "ThreadPoolExecutor", _Inline),
        mock.patch.object(join, "ThreadPoolExecutor", _Inline),
        mock.patch.object(budget, "available", lambda: 1 << 30),
        mock.patch.object(blocks, "BLOCK", 4096),
    )
    try:
        with contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            yield
    finally:
        if os.path.exists(_file):
            os.unlink(_file)


def run(data: bytes) -> str:
    """Read text and compare with what it holds."""
    with open(_file, "wb") as file:
        file.write(data)
    try:
        want: Expected | type[Exception] = expected(data)
    except (Refused, Unknown) as error:
        want = type(error)
    blocks.BLOCK = 96 if len(data) % 8 == 0 else 4096  # so that blocks end in all places of a line
    try:
        got = load_letor(_file, n_jobs=1)
    except ValueError:
        if isinstance(want, Expected):
            raise Wrong("refused, and it is LETOR") from None
        raise
    if want is Refused:
        raise Wrong("accepted, and it isn't LETOR")
    if isinstance(want, Expected):
        _compare(got, want)
    return "accepted"


def _compare(got, want: Expected) -> None:
    same = (
        (got.X.view(np.uint32) == want.X.view(np.uint32)) if got.X.shape == want.X.shape else False
    )
    if not np.all(
        same | (np.isnan(got.X) & np.isnan(want.X)) if got.X.shape == want.X.shape else False
    ):
        raise Wrong(f"features {got.X.tolist()}, expected {want.X.tolist()}")
    if got.y.tolist() != want.y:
        raise Wrong(f"labels {got.y.tolist()}, expected {want.y}")
    ids = got.qid.tolist()
    texts = [q.decode() for q in want.qid]
    if ids != (list(map(int, texts)) if isinstance(ids[0], int) else texts):
        raise Wrong(f"query ids {ids}, expected {texts}")
    comments = [""] * len(texts) if got.comments is None else list(got.comments)
    if comments != [c.decode() for c in want.comments]:
        raise Wrong(f"comments {comments}, expected {want.comments}")
