"""Judgments and runs in the forms of other programs (nested dictionaries, tables, rows), and their order of ties."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec.files import Qrels, Run
from rankwood.data.trec.lines import check_unique_documents

#: Names of the columns of tables, and of the attributes of rows: ir_measures', PyTerrier's, ranx's.
_QUERY = ("query_id", "qid", "q_id")
_DOC = ("doc_id", "docno", "docid")
_VALUES = {"label": ("relevance", "label", "rel", "score"), "score": ("score",)}


class _Rows(NamedTuple):
    qid: list[str]
    doc: list[str]
    value: list[Any]


def to_judgments(y: Any, scores: Any) -> tuple[Any, Any]:
    """Return judgments and a run of other programs as `Qrels` and `Run`; anything else unchanged.

    Known are ``{query: {document: value}}``, ranx's `Qrels` and `Run`, tables with columns such as `query_id`,
    `doc_id` and `relevance`, and iterables of rows with such attributes or of tuples in that order.
    """
    judged = y if isinstance(y, Qrels) else _rows(y, "label")
    if judged is None:
        return y, scores
    if isinstance(judged, _Rows):
        judged = Qrels(judged.qid, judged.doc, _numbers(judged, "label"))
    if isinstance(scores, Run):
        return judged, scores
    ranked = _rows(scores, "score")
    if ranked is None:
        return judged, scores
    tag = str(getattr(scores, "name", None) or "rankwood")
    return judged, Run(ranked.qid, ranked.doc, _numbers(ranked, "score"), tag)


def to_qrels(y: Any) -> Any:
    """Return judgments of other programs as `Qrels`; anything else unchanged."""
    return to_judgments(y, None)[0]


def _rows(source: Any, value: str) -> _Rows | None:
    """Return the rows of judgments or a run; None if they are neither."""
    if type(source).__module__.split(".")[0] == "ranx" and hasattr(source, "to_dict"):
        source = source.to_dict()
    if isinstance(source, Mapping):
        return _from_dict(source, value)
    if hasattr(source, "columns"):
        return _from_table(source, value)
    if isinstance(source, (list, tuple, Iterator)):
        return _from_items(list(source), value)
    return None


def _from_dict(labels_or_scores: Mapping[Any, Any], value: str) -> _Rows:
    rows = _Rows([], [], [])
    for query, documents in labels_or_scores.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"a dictionary must be {{query: {{document: {value}}}}}, got {type(documents).__name__} for query "
                f"{str(query)!r}."
            )
        # A query without documents counts too: a document without a name stands for it.
        for doc, number in (documents or {"": 0}).items():
            rows.qid.append(str(query))
            rows.doc.append(str(doc))
            rows.value.append(number)
    return rows


def _from_table(table: Any, value: str) -> _Rows | None:
    """Return the rows of a table; None if it has no queries or no documents."""
    columns = [str(name) for name in getattr(table, "column_names", table.columns)]
    names = [_first(columns, alternatives) for alternatives in (_QUERY, _DOC, _VALUES[value])]
    if None in names[:2]:
        return None
    if names[2] is None:
        raise InputError(
            f"the table has {', '.join(map(repr, columns))}, but no column with the {value}: expected "
            f"{_VALUES[value][0]!r}."
        )
    qid, doc, numbers = (_column(table[name]) for name in names)
    return _checked(_Rows(list(map(str, qid)), list(map(str, doc)), numbers))


def _column(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _from_items(items: list[Any], value: str) -> _Rows | None:
    """Return rows given one by one; None if the first one has another form."""
    first = items[0] if items else None
    if _attribute(first, _QUERY) is not None and _attribute(first, _DOC) is not None:
        names = [_attribute(first, alternatives) for alternatives in (_QUERY, _DOC, _VALUES[value])]
        if names[2] is None:
            raise InputError(
                f"rows such as {first!r} have no {value}: expected {_VALUES[value][0]!r}."
            )
        try:
            columns = [[getattr(item, str(name)) for item in items] for name in names]
        except AttributeError as error:
            raise InputError(f"rows must all be of one kind: {error}.") from None
    elif (
        isinstance(first, tuple) and len(first) >= 3 and all(isinstance(x, str) for x in first[:2])
    ):
        if not all(isinstance(item, tuple) and len(item) >= 3 for item in items):
            raise InputError(f"rows must all be tuples (query, document, {value}), as the first.")
        columns = [[item[i] for item in items] for i in range(3)]
    else:
        return None
    return _checked(_Rows(list(map(str, columns[0])), list(map(str, columns[1])), columns[2]))


def _first(names: Iterable[str], alternatives: tuple[str, ...]) -> str | None:
    names = set(names)
    return next((name for name in alternatives if name in names), None)


def _attribute(row: Any, alternatives: tuple[str, ...]) -> str | None:
    return next((name for name in alternatives if hasattr(row, name)), None)


def _checked(rows: _Rows) -> _Rows:
    check_unique_documents(rows.qid, rows.doc)
    return rows


def _numbers(rows: _Rows, name: str) -> np.ndarray:
    """Return the labels or scores of rows: finite numbers."""
    for row, value in enumerate(rows.value):
        plain = isinstance(value, (int, float, np.integer, np.floating))
        if not plain or not np.isfinite(float(value)):
            raise InputError(
                f"the {name} of document {rows.doc[row]!r} of query {rows.qid[row]!r} must be a finite number, got "
                f"{value!r}."
            )
    return np.array(rows.value, np.float64)


def groups_by_id(data: RankingData) -> Groups:
    """Return the rows of each query by decreasing document id, trec_eval's order of ties; unchanged without ids."""
    groups = data.groups
    if data.comments is None:
        return groups
    ids = [doc or str(row) for row, doc in enumerate(data.comments.doc_ids)]
    place = np.empty(len(ids), np.int64)
    place[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids))
    query = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    return groups._replace(rows=groups.rows[np.lexsort((place[groups.rows], query))])
