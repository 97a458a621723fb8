"""Documents whose categorical features are numbered as those of other data, or of a model."""

from copy import copy
from typing import TYPE_CHECKING

from rankwood.data.categories import Categories, recoded_matrix

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData


def recoded_data(data: "RankingData", wanted: Categories, model: str) -> "RankingData":
    """Return data in which X has the positions of values in `wanted`; other values become missing, with a warning.

    `model` is what has the wanted categories, for messages.
    """
    if data.categories == wanted:
        return data
    other = copy(data)
    other.X = recoded_matrix(data.X, data.feature_names, data.categories, wanted, model)
    other.categories = wanted
    return other
