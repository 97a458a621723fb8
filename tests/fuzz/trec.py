"""TREC judgments and runs against a reader by regular expressions."""

import os
import random
import re
import tempfile

from rankwood.data.trec.files import load_qrels, load_run
from tests.fuzz import Wrong, damaged

ALPHABET = b"0123456789.-+eEqQdABn \t\r\n\xc3\xa9\xff;:,_x"
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_file = os.path.join(tempfile.gettempdir(), f"fuzz-trec-{os.getpid()}.txt")


def make(rng: random.Random) -> bytes:
    """Return a qrels file or a run, often damaged; the first byte says which."""
    run = rng.random() < 0.5
    lines = []
    for i in range(rng.randint(1, 6)):
        query, doc = b"q%d" % rng.randrange(3), b"D%d" % (i if rng.random() < 0.9 else 0)
        number = rng.choice((b"0", b"2", b"-1", b"0.5", b"1e3", b"7.25", b"1e400", b"nan", b"inf"))
        number = b"%d" % rng.randrange(4) if rng.random() < 0.8 else number
        words = (
            [query, b"Q0", doc, b"%d" % i, number, b"tag"] if run else [query, b"0", doc, number]
        )
        lines.append(rng.choice((b" ", b" ", b"\t", b"  ")).join(words))
    text = b"\n".join(lines) + rng.choice((b"\n", b"", b"\r\n", b"\n\n"))
    return (b"r" if run else b"q") + (damaged(rng, text, ALPHABET) if rng.random() < 0.6 else text)


def expected(run: bool, text: bytes) -> list[tuple[str, str, float]] | None:
    """Return query, document and number of each line, or None if the file must be refused."""
    try:
        lines = re.split("\r\n|\r|\n", text.decode("utf-8-sig").rstrip())
    except UnicodeDecodeError:
        return None
    size, at = (6, 4) if run else (4, 3)
    rows, seen = [], set()
    for line in lines:
        words = line.split()
        if (
            len(words) != size
            or not _REAL.fullmatch(words[at])
            or abs(float(words[at])) == float("inf")
        ):
            return None
        if (words[0], words[2]) in seen:
            return None
        seen.add((words[0], words[2]))
        rows.append((words[0], words[2], float(words[at])))
    return rows


def run(data: bytes) -> str:
    """Read a file and compare with what it holds."""
    is_run, text = data[:1] == b"r", data[1:]
    with open(_file, "wb") as file:
        file.write(text)
    want = expected(is_run, text)
    try:
        found = load_run(_file) if is_run else load_qrels(_file)
    except ValueError:
        if want is not None and not re.search(rb"[\d]_|\d{4000}", text):
            raise Wrong("refused, and it is a TREC file") from None
        raise
    if want is None and b"_" not in text:  # Python's numbers may have underscores
        raise Wrong("accepted, and it isn't a TREC file")
    numbers = found.score if is_run else found.label
    got = list(zip(found.qid, found.doc, numbers.tolist(), strict=True))
    if want is not None and got != want:
        raise Wrong(f"{got}, expected {want}")
    return "accepted"
