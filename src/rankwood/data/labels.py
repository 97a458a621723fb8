"""Labels and queries, however they are given."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups, group_rows
from rankwood.data.ranking_data import RankingData


def labels_and_groups(y: Any, qid: Any = None, group: Any = None) -> tuple[np.ndarray, Groups]:
    """Return labels and groups of a RankingData, or of labels with query ids or group sizes."""
    if isinstance(y, RankingData):
        if qid is not None or group is not None:
            raise checks.InputError("a RankingData knows its queries: leave out qid and group.")
        return y.y, y.groups
    y = checks.labels(y)
    return y, group_rows(y.size, qid, group)
