"""Judgments and runs as TREC text: `qid 0 doc label` and `qid Q0 doc rank score tag`, one document per line."""

import gzip
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.file_errors import GZIP, READ_ERRORS, Path
from rankwood._util.text import plural
from rankwood.data.groups import Groups, group_rows
from rankwood.data.source import Source
from rankwood.data.trec.lines import (
    check_unique_documents,
    check_unique_lines,
    is_number,
    number_column,
    read_rows,
    save_lines,
    single_words,
)


class Qrels(NamedTuple):
    """Judgments, as in a TREC qrels file.

    Parameters
    ----------
    qid, doc : list of str
        The query id and the document id of each judgment.
    label : array or list of float
        Its label.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.Qrels(["q1", "q1"], ["A", "B"], [2, 0])
    Qrels(2 judgments, 1 query)
    """

    qid: list[str]
    doc: list[str]
    label: np.ndarray

    def __repr__(self) -> str:
        n_queries = len(set(self.qid))
        return f"Qrels({plural(len(self.qid), 'judgment')}, {plural(n_queries, 'query')})"


class Run(NamedTuple):
    """The documents that a system retrieved, as in a TREC run file.

    Parameters
    ----------
    qid, doc : list of str
        The query id and the id of each retrieved document.
    score : array or list of float
        Its score.
    tag : str
        The name of the run.

    Examples
    --------
    >>> import rankwood as rw
    >>> run = rw.Run(["q1", "q1"], ["A", "B"], [0.3, 0.9], "bm25")
    >>> rw.evaluate("ndcg@10", rw.Qrels(["q1"], ["B"], [2]), run).mean()
    {'ndcg@10': 1.0}
    """

    qid: list[str]
    doc: list[str]
    score: np.ndarray
    tag: str = "rankwood"

    def __repr__(self) -> str:
        n_documents, n_queries = len(self.qid), len(set(self.qid))
        return f"Run({self.tag!r}, {plural(n_documents, 'document')}, {plural(n_queries, 'query')})"


def load_qrels(path: Path) -> Qrels:
    r"""Read judgments, lines of `qid 0 doc label`, plain or compressed with gzip.

    The second word is ignored. A document may be judged once for a query. A label below 0, which some
    collections give to spam, stays as it is and counts as 0 in `evaluate`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Qrels
        The judgments, in the order of the file.

    Raises
    ------
    InputError
        If the file can't be read, or a line is not a judgment or repeats one.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.save_qrels(rw.Qrels(["q1", "q1"], ["A", "B"], [2, 0]), "qrels.txt")
    >>> rw.load_qrels("qrels.txt")
    Qrels(2 judgments, 1 query)
    """
    name = os.fsdecode(path)
    rows = read_rows(name, "judgments", ("qid", "0", "doc", "label"))
    label = number_column(name, rows, 3, "label")
    check_unique_lines(name, rows, "judged")
    return Qrels([row[0] for row in rows], [row[2] for row in rows], label)


def load_run(path: Path) -> Run:
    r"""Read a run, lines of `qid Q0 doc rank score tag`, plain or compressed with gzip.

    Documents are ranked by their scores; the rank in the file is ignored, as trec_eval does.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Run
        The documents, in the order of the file.

    Raises
    ------
    InputError
        If the file can't be read, or a line is not a result or repeats a document.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.save_run((["q1", "q1"], ["A", "B"]), [0.3, 0.9], "run.txt", tag="bm25")
    >>> rw.load_run("run.txt")
    Run('bm25', 2 documents, 1 query)
    """
    name = os.fsdecode(path)
    rows = read_rows(name, "a run", ("qid", "Q0", "doc", "rank", "score", "tag"))
    score = number_column(name, rows, 4, "score")
    check_unique_lines(name, rows, "ranked")
    return Run([row[0] for row in rows], [row[2] for row in rows], score, rows[0][5])


def save_qrels(data: Any, path: Path) -> None:
    """Write judgments, lines of `qid 0 doc label`.

    Parameters
    ----------
    data : Qrels or RankingData
        Judgments, or labels. The documents of a `RankingData` are named by the ids in its comments, or by
        their row.
    path : str or path
        The file to write, compressed with gzip if the name ends in `.gz`.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.save_qrels(rw.Qrels(["q1"], ["A"], [2]), "qrels.txt")
    >>> with open("qrels.txt") as file:
    ...     print(file.read().strip())
    q1 0 A 2
    """
    if isinstance(data, Source):
        data = Qrels([str(q) for q in data.qid], _document_names(data), data.y)
    check_unique_documents(data.qid, data.doc)
    lines = (
        f"{q} 0 {doc} {_format_label(label)}\n"
        for q, doc, label in zip(
            single_words(data.qid), single_words(data.doc), data.label, strict=True
        )
    )
    save_lines(path, lines)


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

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.save_run((["q1", "q1"], ["A", "B"]), [0.3, 0.9], "run.txt", tag="bm25")
    >>> with open("run.txt") as file:
    ...     print(file.read().strip())
    q1 Q0 B 1 0.9 bm25
    q1 Q0 A 2 0.3 bm25
    """
    if isinstance(data, Source):
        qid, doc = [str(q) for q in data.qid], _document_names(data)
    else:
        qid, doc = (list(map(str, column)) for column in data)
    score = checks.vector(scores, "scores", len(doc))
    (tag,) = single_words([tag])
    groups = group_rows(len(doc), np.array(single_words(qid)))
    names = single_words(doc)
    check_unique_documents(qid, doc)
    save_lines(path, _run_lines(groups, names, score, tag))


def _run_lines(groups: Groups, doc: list[str], score: np.ndarray, tag: str) -> Iterator[str]:
    for q, a, b in zip(groups.ids, groups.ptr[:-1], groups.ptr[1:], strict=True):
        rows = groups.rows[a:b]
        best = rows[np.argsort(-score[rows], kind="stable")]
        for rank, row in enumerate(best, 1):
            yield f"{q} Q0 {doc[row]} {rank} {float(score[row])!r} {tag}\n"


def trec_kind(path: Path) -> str | None:
    """Return "qrels" or "run" if the first line of a file has the form of one, else None.

    A pipe is never read, since its content could not be read again.
    """
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            start = file.read(2)
            file.seek(0)
            source: Any = gzip.GzipFile(fileobj=file) if start == GZIP else file
            words = source.readline(4096).decode("utf-8-sig", "replace").split()
    except READ_ERRORS:
        return None
    if len(words) == 4 and not words[1].startswith("qid:") and is_number(words[3]):
        return "qrels"
    if len(words) == 6 and not words[1].startswith("qid:") and is_number(words[4]):
        return "run"
    return None


def _document_names(data: Source) -> list[str]:
    """Return a name for each document: its id in the comments, else its row."""
    ids: Iterable[str] = data.comments.doc_ids if data.comments is not None else [""] * len(data)
    return [doc or str(row) for row, doc in enumerate(ids)]


def _format_label(label: float) -> str:
    return str(int(label)) if label == int(label) else repr(float(label))
