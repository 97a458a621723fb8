"""The lists of the second stage: the best documents of the first, with what the second stage knows of them."""

import numpy as np

from rankwood.data.listwise_features import listwise_features, with_score
from rankwood.data.ranking_data import RankingData
from rankwood.data.truncation import top_mask
from rankwood.estimators.two_stage.first_stage import FORMER, StageSettings


def kept_rows(model: StageSettings, data: RankingData, scores: np.ndarray) -> np.ndarray:
    """Return a mask of the rows that a TwoStage passes on to its second stage, by their first-stage scores."""
    # Models of earlier versions drew ties by the place in the batch, and predict as they did.
    by_query = model.serve != FORMER
    return top_mask(data, scores, model.top, model.random_state, by_query=by_query)


def second_stage_lists(
    model: StageSettings, data: RankingData, scores: np.ndarray, kept: np.ndarray | None = None
) -> RankingData:
    """Return the lists of the second stage, rows in the caller's order; `kept` is computed if it isn't known."""
    if kept is None:
        kept = kept_rows(model, data, scores)
    lists = data.cut_to(kept)
    if model.ideal == "list":
        lists.unlisted = None
    return (listwise_features if model.listwise else with_score)(lists, scores[kept])
