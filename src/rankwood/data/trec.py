"""Judgments and runs as TREC text: `qid 0 doc label` and `qid Q0 doc rank score tag`, a document a line."""

import gzip
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood._core.checks import InputError
from rankwood.data.groups import Groups, group_rows
from rankwood.data.ranking_data import RankingData

Path = str | os.PathLike[str]
_GZIP = b"\x1f\x8b"


class Qrels(NamedTuple):
    """Judgments: a query id, a document id and a label each."""

    qid: list[str]
    doc: list[str]
    label: np.ndarray

    def __repr__(self) -> str:
        return f"Qrels({len(self.qid):,} judgments, {len(set(self.qid)):,} queries)"


class Run(NamedTuple):
    """What a system retrieved: a query id, a document id and a score each."""

    qid: list[str]
    doc: list[str]
    score: np.ndarray
    tag: str = "rankwood"

    def __repr__(self) -> str:
        return f"Run({self.tag!r}, {len(self.qid):,} documents, {len(set(self.qid)):,} queries)"


def load_qrels(path: Path) -> Qrels:
    r"""Read judgments, lines of `qid 0 doc label`, plain or compressed with gzip.

    The second word is ignored. A document may be judged once for a query. A label below 0, which some
    collections give to spam, stays as it is and counts as 0 in `evaluate`.

    Examples
    --------
    >>> import tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "qrels.txt")
    >>> with open(name, "w") as file:
    ...     size = file.write("q1 0 A 2\nq1 0 B 0\n")
    >>> load_qrels(name)
    Qrels(2 judgments, 1 queries)
    """
    name = os.fsdecode(path)
    rows = _rows(name, "judgments", ("qid", "0", "doc", "label"))
    label = _numbers(name, rows, 3, "label")
    _check_once(name, rows, "judged")
    return Qrels([row[0] for row in rows], [row[2] for row in rows], label)


def load_run(path: Path) -> Run:
    r"""Read a run, lines of `qid Q0 doc rank score tag`, plain or compressed with gzip.

    Documents are ranked by their scores; the rank in the file is ignored, as trec_eval does.

    Examples
    --------
    >>> import tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "run.txt")
    >>> with open(name, "w") as file:
    ...     size = file.write("q1 Q0 B 1 0.9 bm25\nq1 Q0 A 2 0.3 bm25\n")
    >>> load_run(name)
    Run('bm25', 2 documents, 1 queries)
    """
    name = os.fsdecode(path)
    rows = _rows(name, "a run", ("qid", "Q0", "doc", "rank", "score", "tag"))
    score = _numbers(name, rows, 4, "score")
    _check_once(name, rows, "ranked")
    return Run([row[0] for row in rows], [row[2] for row in rows], score, rows[0][5])


def save_qrels(data: Any, path: Path) -> None:
    """Write judgments: those of `Qrels`, or the labels of a `RankingData`.

    The documents of a `RankingData` are named by the ids in its comments, or by their row.
    """
    if isinstance(data, RankingData):
        data = Qrels([str(q) for q in data.qid], _names(data), data.y)
    _check_pairs(data.qid, data.doc)
    lines = (
        f"{q} 0 {doc} {_plain(label)}\n"
        for q, doc, label in zip(_words(data.qid), _words(data.doc), data.label, strict=True)
    )
    _save(path, lines)


def save_run(data: Any, scores: Any, path: Path, *, tag: str = "rankwood") -> None:
    """Write a run: queries in order of first appearance, documents by decreasing score.

    Parameters
    ----------
    data : RankingData, or two sequences (query ids, document ids)
        What was scored. The documents of a `RankingData` are named by the ids in its comments, or by
        their row.
    scores : array
        A score for each row. Read back, they are the same numbers.
    path : str or path
        The file to write, compressed with gzip if the name ends in `.gz`.
    tag : str
        The name of the run, without blanks.
    """
    if isinstance(data, RankingData):
        qid, doc = [str(q) for q in data.qid], _names(data)
    else:
        qid, doc = (list(map(str, column)) for column in data)
    score = checks.vector(scores, "scores", len(doc))
    (tag,) = _words([tag])
    groups = group_rows(len(doc), np.array(_words(qid)))
    names = _words(doc)
    _check_pairs(qid, doc)
    _save(path, _run_lines(groups, names, score, tag))


def _run_lines(groups: Groups, doc: list[str], score: np.ndarray, tag: str) -> Iterator[str]:
    for q, a, b in zip(groups.ids, groups.ptr[:-1], groups.ptr[1:], strict=True):
        rows = groups.rows[a:b]
        best = rows[np.argsort(-score[rows], kind="stable")]
        for rank, row in enumerate(best, 1):
            yield f"{q} Q0 {doc[row]} {rank} {float(score[row])!r} {tag}\n"


def joined(
    qrels: Qrels, run: Any, missing: Any = 0
) -> tuple[np.ndarray, np.ndarray, Groups, np.ndarray]:
    """Return labels, scores, groups and whether a document was ranked, of all judged or ranked documents.

    Queries are those of the judgments, in their order; with ``missing="skip"`` only those that the run
    has too. A query's documents are by decreasing id, which is trec_eval's order of equal scores.
    """
    if not isinstance(run, Run):
        raise InputError(
            f"judgments go with a run, got {type(run).__name__}; read one with load_run."
        )
    wanted = dict.fromkeys(qrels.qid)
    if missing == "skip":
        ranked = set(run.qid)
        wanted = dict.fromkeys(q for q in wanted if q in ranked)
    elif not wanted.keys() & set(run.qid):
        wanted = {}
    if not wanted:
        raise InputError(
            "the run has no query that the judgments have; give files that belong together."
        )
    query = {q: i for i, q in enumerate(wanted)}
    names = sorted({*qrels.doc, *run.doc}, reverse=True)
    place = {doc: i for i, doc in enumerate(names)}
    judged = _keys(qrels.qid, qrels.doc, query, place)
    given = _keys(run.qid, run.doc, query, place)
    keys = np.union1d(judged[judged >= 0], given[given >= 0])
    y, scores, found = np.zeros(keys.size), np.zeros(keys.size), np.zeros(keys.size, bool)
    y[np.searchsorted(keys, judged[judged >= 0])] = np.maximum(qrels.label[judged >= 0], 0.0)
    rows = np.searchsorted(keys, given[given >= 0])
    scores[rows], found[rows] = run.score[given >= 0], True
    ids = np.array(list(wanted))
    groups = group_rows(keys.size, keys // len(names))
    return y, scores, groups._replace(ids=ids[groups.ids]), found


def _keys(
    qid: list[str], doc: list[str], query: dict[str, int], place: dict[str, int]
) -> np.ndarray:
    """Return one number per row that orders by query, then by document; -1 for other queries."""
    q = np.array([query.get(x, -1) for x in qid], np.int64)
    d = np.array([place[x] for x in doc], np.int64)
    return np.where(q < 0, -1, q * len(place) + d)


def looks_like(path: Path) -> str | None:
    """Return "qrels" or "run" if the first line of a file has the form of one, else None.

    A pipe is left alone: what is read from it is gone.
    """
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            start = file.read(2)
            file.seek(0)
            source: Any = gzip.GzipFile(fileobj=file) if start == _GZIP else file
            words = source.readline(4096).decode("utf-8-sig", "replace").split()
    except (OSError, EOFError, zlib.error):
        return None
    if len(words) == 4 and not words[1].startswith("qid:") and _is_number(words[3]):
        return "qrels"
    if len(words) == 6 and not words[1].startswith("qid:") and _is_number(words[4]):
        return "run"
    return None


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _rows(path: str, what: str, form: tuple[str, ...]) -> list[list[str]]:
    """Return the words of each line; there may be blank lines at the end only."""
    shape = " ".join(form)
    rows = [line.split() for line in _text(path, what).rstrip().splitlines()]
    if not rows:
        raise InputError(f"{path} is empty, expected {what}, lines of {shape!r}.")
    for i, row in enumerate(rows, 1):
        if len(row) != len(form):
            raise InputError(
                f"{path}, line {i}: expected {len(form)} words, {shape!r}, got {len(row)}."
            )
    return rows


def _text(path: str, what: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read()
        return (gzip.decompress(raw) if raw[:2] == _GZIP else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, expected a file of {what}.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} starts like a gzip file but can't be decompressed ({error}), expected a complete "
            "gzip file: copy or download it again."
        ) from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is a binary file, expected {what} as text.") from None


def _numbers(path: str, rows: list[list[str]], column: int, name: str) -> np.ndarray:
    try:
        values = [float(row[column]) for row in rows]
    except ValueError:
        values = [float(row[column]) if _is_number(row[column]) else math.nan for row in rows]
    for i, value in enumerate(values, 1):
        if not math.isfinite(value):
            raise InputError(
                f"{path}, line {i}: expected a finite number as {name}, got {rows[i - 1][column]!r}."
            )
    return np.array(values)


def _check_once(path: str, rows: list[list[str]], done: str) -> None:
    seen: dict[tuple[str, str], int] = {}
    for i, row in enumerate(rows, 1):
        before = seen.setdefault((row[0], row[2]), i)
        if before != i:
            raise InputError(
                f"{path}, line {i}: document {row[2]!r} of query {row[0]!r} is {done} on line {before} "
                "already, expected once; delete one of the lines."
            )


def _check_pairs(qid: list[str], doc: list[str]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(qid, doc, strict=True)):
        before = seen.setdefault(pair, row)
        if before != row:
            raise InputError(
                f"document {pair[1]!r} of query {pair[0]!r} is at row {before} and at row {row}, expected "
                "once; give each document of a query its own id."
            )


def _names(data: RankingData) -> list[str]:
    """Return a name for each document: its id in the comments, else its row."""
    ids: Iterable[str] = data.comments.doc_ids if data.comments is not None else [""] * len(data)
    return [doc or str(row) for row, doc in enumerate(ids)]


def _words(texts: list[str]) -> list[str]:
    for text in texts:
        if not text or text.split() != [text]:
            raise InputError(
                f"TREC files separate by blanks, so ids are single words, got {text!r}."
            )
    return texts


def _plain(label: float) -> str:
    return str(int(label)) if label == int(label) else repr(float(label))


def _save(path: Path, lines: Iterable[str]) -> None:
    name = os.fsdecode(path)
    raw = "".join(lines).encode("utf-8")
    try:
        with replacing(name) as file:
            # Without name and time, the same data give the same bytes.
            file.write(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    except OSError as error:
        raise InputError(
            f"{name} can't be written ({error.strerror or error}), expected a name in a directory "
            "that exists and may be written to."
        ) from error
