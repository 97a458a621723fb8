"""The data arguments of `fit`, as records."""

from typing import Any, NamedTuple

from rankwood._util.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source


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


def training_data(arguments: FitArguments, caller: str) -> Source:
    """Return X if it is a source, else a RankingData made of the arguments of `caller`."""
    X, y, qid, group, weight, sample_weight, _ = arguments
    if isinstance(X, Source):
        if not all(v is None for v in (y, qid, group, weight, sample_weight)):
            raise InputError("a RankingData knows its labels and queries: give it alone.")
        return X
    if y is None:
        raise InputError(
            f"{caller} needs labels: it requires y to be passed, but the target y is None. Call {caller}(X, y, "
            "qid=...), or give a RankingData."
        )
    if qid is None and group is None:
        raise InputError(
            f"{caller} needs to know the queries: give qid= (an id per row) or group= (sizes); inside "
            "scikit-learn's model selection, switch on metadata routing to hand qid on."
        )
    return RankingData(X, y, qid=qid, group=group, weight=weight, sample_weight=sample_weight)
