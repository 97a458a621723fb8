"""Data of a stream for XGBoost: bins in files, which are read again for each level of a tree."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.engines import _parameters

with _parameters.passive_threads():
    import xgboost as xgb


class BlockIterator(xgb.DataIter):
    """Hands the blocks of a stream to XGBoost, in as many passes as it wants.

    Parameters
    ----------
    data : StreamedData
        The stream.
    cache : str
        How the names of XGBoost's files begin.
    kinds : list of str or None
        XGBoost's types of the features, if some are categorical.
    """

    def __init__(self, data: StreamedData, cache: str, kinds: list[str] | None) -> None:
        self._data, self._kinds = data, kinds
        self._blocks: Iterator[np.ndarray] = iter(())
        super().__init__(cache_prefix=cache, on_host=False)

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Hand over the next block; return False if there are no more."""
        block = next(self._blocks, None)
        if block is None:
            return False
        input_data(data=block, feature_types=self._kinds)
        return True

    def reset(self) -> None:
        """Begin anew."""
        self._blocks = self._data.blocks()


def matrices(
    train: StreamedData,
    valid: RankingData | None,
    kinds: list[str] | None,
    folder: str,
    **options: Any,
) -> list[Any]:
    """Return the training data and, if there is any, the validation data; both have the bins of the sample."""
    categorical = {"enable_categorical": True} if kinds else {}
    typed = {"feature_types": kinds} if kinds else {}
    bins = xgb.QuantileDMatrix(train.sample, **options, **categorical, **typed)

    def make(data: RankingData, name: str) -> Any:
        if not isinstance(data, StreamedData):
            X = _parameters.dense(data.X)
            return xgb.QuantileDMatrix(X, ref=bins, **options, **categorical, **typed)
        source = BlockIterator(data, os.path.join(folder, name), kinds)
        return xgb.ExtMemQuantileDMatrix(source, ref=bins, **options, **categorical)

    sets = {"train": train} if valid is None else {"train": train, "valid": valid}
    return [make(data, name) for name, data in sets.items()]
