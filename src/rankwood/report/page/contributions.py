"""What features contribute to the scores of the test documents, within their queries."""

from collections.abc import Sequence

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.report.fitted import SelfExplaining
from rankwood.report.page.scored import ScoredModel
from rankwood.report.page.training import Importance, Stage, most_important

_MOST_DOCUMENTS = 500  # that are explained
WHAT = "the contributions within queries"


def contributions_of(models: Sequence[ScoredModel]) -> Importance | None:
    """Return the features with the largest shares of the contributions; None if no model can be explained."""
    known = [
        (Stage(model.name, i, []), shares)
        for i, model in enumerate(models)
        if (shares := _shares(model))
    ]
    found = most_important(known)
    return None if found is None else found._replace(what=WHAT)


def _shares(model: ScoredModel) -> dict[str, float]:
    """Return the mean size of the contributions of each feature as a share of all; empty if there are none."""
    if model.data is None or not isinstance(model.estimator, SelfExplaining):
        return {}
    try:
        found = model.estimator.explain(_some_queries(model.data))
    except InputError:  # networks, models of pairs and two stages have none
        return {}
    total = float(found.importances.sum()) or 1.0
    return {
        name: float(size) / total
        for name, size in zip(found.feature_names, found.importances, strict=True)
    }


def _some_queries(data: RankingData) -> RankingData:
    """Return queries from all over the data, with about as many documents as are explained."""
    count = data.groups.ids.size
    wanted = max(1, round(_MOST_DOCUMENTS * count / len(data)))
    if wanted >= count:
        return data
    return data.select(np.linspace(0, count - 1, wanted).astype(np.int64))
