"""Labels and groups, from a RankingData or from arrays."""

from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups, group_rows
from rankwood.data.source import Source


def check_queries_once(X: Any, qid: Any, group: Any) -> None:
    """Raise if queries are given beside a `RankingData`, which has its own."""
    if isinstance(X, Source) and not (qid is None and group is None):
        raise checks.InputError("a RankingData knows its queries: omit qid and group.")


def labels_and_groups(y: Any, qid: Any = None, group: Any = None) -> tuple[np.ndarray, Groups]:
    """Return labels and groups of a RankingData, or of labels with query ids or group sizes."""
    if isinstance(y, Source):
        check_queries_once(y, qid, group)
        return y.y, y.groups
    y = checks.labels(y)
    return y, group_rows(y.size, qid, group)


def beside_labels(y: Any) -> dict[str, Any]:
    """Return what a data set holds beside labels and queries, by name, as whoever computes gradients takes it."""
    return {name: getattr(y, name, None) for name in ("unlisted", "pairs")}
