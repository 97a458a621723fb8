"""Data of a stream for XGBoost: bins in files, which are read again for each level of a tree."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankwood._util import interrupts
from rankwood._util.checks import InputError
from rankwood.data.stream.sample import put_aside
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.engines import _parameters
from rankwood.engines.base import TrainingTask

with _parameters.passive_threads():
    import xgboost as xgb


class BlockIterator(xgb.DataIter):  # type: ignore[misc]
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
        self._shapes: list[
            tuple[int, ...]
        ] = []  # of the blocks that an earlier pass has handed over
        self._at = 0
        self._error: BaseException | None = None
        super().__init__(cache_prefix=cache, on_host=False)

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Hand over the next block; return False if there are no more."""
        block = self._next_block()
        if block is None:
            return False
        input_data(data=block, feature_types=self._kinds)
        return True

    def reset(self) -> None:
        """Begin anew."""
        self._blocks, self._at = self._data.blocks(), 0

    def _next_block(self) -> np.ndarray | None:
        """Return the next block, None at the end; after an error, zeros of the same shape.

        XGBoost ends the process if a pass has fewer rows than the one before.
        """
        if self._error is None:
            try:
                interrupts.deliver()  # a pass may take long
                block = next(self._blocks, None)
            except BaseException as error:  # an interrupt, too
                self._error = error
        if self._error is not None:
            known = self._at < len(self._shapes)
            block = np.zeros(self._shapes[self._at], np.float32) if known else None
        if block is not None:
            if self._at == len(self._shapes):
                self._shapes.append(block.shape)
            self._at += 1
        return block

    def raise_error(self) -> None:
        """Raise what has ended a pass, if anything did."""
        if self._error is not None:
            raise self._error


def matrices(
    train: StreamedData, task: TrainingTask, kinds: list[str] | None, **options: Any
) -> list[Any]:
    """Return the training data and, if there is any, the validation data; both have the bins of the sample."""
    folder = task.folder
    assert folder is not None
    if kinds:
        options["enable_categorical"] = True
    _check_disk(task, folder.path, options["max_bin"])
    bins = _bins(train.sample, kinds, options)

    def in_memory(X: Any) -> Any:
        return xgb.QuantileDMatrix(_parameters.dense(X), ref=bins, feature_types=kinds, **options)

    def in_files(data: StreamedData, name: str) -> Any:
        blocks = BlockIterator(data, os.path.join(folder.path, name), kinds)
        try:
            matrix = xgb.ExtMemQuantileDMatrix(blocks, ref=bins, **options)
        finally:
            blocks.raise_error()
        folder.cleanup.callback(matrix.__del__)  # XGBoost warns if its files are gone before
        return matrix

    made = [in_files(train, "train")]
    if task.valid is not None:
        made.append(task.valid.built(in_memory, lambda files: in_files(files, "valid")))
    return made


def _check_disk(task: TrainingTask, folder: str, max_bin: int) -> None:
    """Raise if the files of the bins surely don't fit on the disk: they hold each value by row and by column."""

    def bytes_of(data: StreamedData) -> int:
        return 2 * len(data) * data.n_features * (1 if max_bin <= 256 else 2)

    sets = [data for data in (task.train, task.valid) if data is not None]
    size = sum(data.built(lambda X: 0, bytes_of) for data in sets)
    free = shutil.disk_usage(folder).free
    if size > free:
        raise InputError(
            f"XGBoost keeps the bins of a stream in files of about {size / 2**30:.3g} GiB, and the temporary folder "
            f"{os.path.dirname(folder)} has {free / 2**30:.3g} GiB free: make room, set TMPDIR to a folder with more, "
            "or use engine='lightgbm', which keeps half as much in memory."
        )


def _bins(sample: np.ndarray, kinds: list[str] | None, options: dict[str, Any]) -> Any:
    """Return a matrix of few rows with the bins of the sample, so that the binned sample takes no memory for long."""
    whole = xgb.QuantileDMatrix(sample, feature_types=kinds, **options)
    few = xgb.QuantileDMatrix(sample[:1], ref=whole, feature_types=kinds, **options)
    put_aside(sample)
    return few
