"""Data of a stream for LightGBM: bins in memory, features never."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._util import interrupts
from rankwood.data.source import Source
from rankwood.data.stream.sample import put_aside
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.engines import _parameters

with _parameters.passive_threads():
    import lightgbm as lgb

_ROWS = 1 << 14  # rows that LightGBM bins at a time


class BlockSequence(lgb.Sequence):  # type: ignore[misc]
    """The rows of a stream in order; LightGBM reads only slices, each once, if it has a reference.

    Parameters
    ----------
    data : StreamedData
        The stream.
    """

    batch_size = _ROWS

    def __init__(self, data: StreamedData) -> None:
        self._data = data
        self._blocks: Iterator[np.ndarray] = iter(())
        self._rest = np.empty((0, data.n_features))

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the next rows."""
        interrupts.deliver()  # a pass may take long
        if rows.start == 0:
            self._blocks = self._data.blocks()
            self._rest = np.empty((0, self._data.n_features))
        size = rows.stop - rows.start
        parts = []
        while size:
            if not self._rest.shape[0]:
                self._rest = next(self._blocks)
            parts.append(self._rest[:size])
            self._rest = self._rest[size:]
            size -= parts[-1].shape[0]
        if rows.stop == len(self):
            next(
                self._blocks, None
            )  # the end of the pass: files are checked, and its progress bar closes
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


class StreamedDataset(lgb.Dataset):  # type: ignore[misc]
    """A Dataset of a stream, which can resume from earlier trees."""

    def _set_init_score_by_predictor(self, predictor: Any, data: Any, used_indices: Any) -> Any:
        """Set the scores of earlier trees; LightGBM itself predicts matrices only."""
        if predictor is None:
            return super()._set_init_score_by_predictor(predictor, data, used_indices)
        scores = [predictor.predict(X, raw_score=True).ravel() for X in data._data.blocks()]
        self.set_init_score(np.concatenate(scores))
        return self


def datasets(
    train: StreamedData, valid: Source | None, params: dict[str, Any], names: Any, columns: Any
) -> tuple[Any, Any]:
    """Return the training data and the validation data, if there is any; the sample has their bins."""
    if len(train.sample) < len(train):
        # What can't be split in the sample may well be split in all of the data.
        params = {**params, "feature_pre_filter": False}
    given = {"feature_name": names, "categorical_feature": columns}
    bins = lgb.Dataset(train.sample, np.zeros(len(train.sample)), params=dict(params), **given)
    bins.construct()
    put_aside(train.sample)
    data = StreamedDataset(
        BlockSequence(train), train.y, reference=bins, params=dict(params), **given
    )
    if valid is None:
        return data, None
    same: dict[str, Any] = {"reference": data, "params": dict(params), **given}
    return data, valid.built(
        lambda X: data.create_valid(X, valid.y, params=dict(params)),
        lambda files: StreamedDataset(BlockSequence(files), valid.y, **same),
    )
