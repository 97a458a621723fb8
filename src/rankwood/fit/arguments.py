"""The data arguments of `fit`, as records."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rankwood._util.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.frames import is_frame


class FitArguments(NamedTuple):
    """The data arguments of `fit`, as they were given."""

    X: Any
    y: Any = None
    qid: Any = None
    group: Any = None
    weight: Any = None
    sample_weight: Any = None
    valid: Any = None


class SourceWords(NamedTuple):
    """Arguments of `fit` that say what X is: names of files, or data for the workers of a cluster."""

    stream: bool = False
    cluster: Any = None
    shuffle_parts: bool = False
    retries: int = 0


def with_columns_of_valid(given: FitArguments, caller: str = "fit") -> FitArguments:
    """Return the arguments with (table, y, qid) for each validation set that is a table.

    Its labels and queries are in the columns that have the same names as those of the training data.
    """
    pairs = named_sets(given.valid)
    if pairs is None:
        return given._replace(valid=_with_columns(given.valid, given, caller))
    sets = [(name, _with_columns(data, given, caller)) for name, data in pairs]
    return given._replace(valid=dict(sets) if isinstance(given.valid, Mapping) else sets)


def _with_columns(valid: Any, given: FitArguments, caller: str) -> Any:
    if not is_frame(valid):
        return valid
    if isinstance(given.y, str) and isinstance(given.qid, str):
        return valid, given.y, given.qid
    raise InputError(
        "valid is a table, and nothing says which of its columns have the labels and the queries: name those of the "
        f"training data, as in {caller}(..., y='label', qid='query', valid=df2), or give valid=(df2, 'label', 'query')."
    )


def named_sets(valid: Any) -> list[tuple[Any, Any]] | None:
    """Return the pairs (name, set) that were given; None if there is one set without a name."""
    if isinstance(valid, Mapping):
        return list(valid.items())
    if isinstance(valid, (tuple, list)) and all(
        isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in valid
    ):
        return [(name, data) for name, data in valid]
    return None


def training_data(arguments: FitArguments, caller: str) -> Source:
    """Return X if it is a source, else a RankingData made of the arguments of `caller`."""
    X, y, qid, group, weight, sample_weight, _ = arguments
    if isinstance(X, Source):
        if not all(v is None for v in (y, qid, group, weight, sample_weight)):
            raise InputError("a RankingData knows its labels and queries: give it alone.")
        return X
    if y is None:
        raise InputError(
            f"{caller} needs labels: it requires y to be passed, but the target y is None. Give y= and qid=, arrays or "
            "names of columns of a table, or a RankingData."
        )
    if qid is None and group is None:
        raise InputError(
            f"{caller} needs to know the queries: give qid= (an id per row) or group= (sizes); inside "
            "scikit-learn's model selection, switch on metadata routing to hand qid on."
        )
    return RankingData(X, y, qid=qid, group=group, weight=weight, sample_weight=sample_weight)
