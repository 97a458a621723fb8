"""Training on files that don't fit in memory: the data arguments of `fit`, and the folder of the engine's files."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood._core.scratch import Scratch, scratch_folder
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream import stream_files
from rankwood.data.stream.files import is_file_names, is_parquet
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.engines import base
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of


def check_can_stream(estimator: Any) -> None:
    """Raise unless an estimator trains on streams; its parameters are checked too, as reading may take long."""
    kind = type(estimator).__name__
    if getattr(estimator, "_kind", "") != "Ranker":
        raise checks.InputError(
            f"{kind} needs all features in memory, and a stream has them in files: load the files, or train a Ranker."
        )
    if not base.abilities_of(estimator.engine).streams:
        able = [repr(name) for name, own in base.ENGINES.items() if own.streams]
        raise checks.InputError(
            f"engine={estimator.engine!r} needs all features in memory, and a stream has them in files: take "
            f"{' or '.join(able)}, or load the files."
        )
    if unit_of(to_objective(estimator.objective)) == "pairs":
        raise checks.InputError(
            "objectives of pairs (bi-...) need all features in memory, and a stream has them in files: take an "
            "objective of documents, or load the files."
        )
    estimator._check(False)


def streamed_training(
    estimator: Any, files: Any, y: Any, qid: Any, others: Mapping[str, Any]
) -> StreamedData:
    """Return the training data of ``fit(files, y, qid=..., stream=True)``; `others` can't be used with files."""
    for name, value in others.items():
        if value is not None:
            raise checks.InputError(f"{name} can't be given with stream=True: leave it out.")
    if isinstance(files, StreamedData):
        if y is not None or qid is not None:
            raise checks.InputError("a StreamedData knows its labels and queries: give it alone.")
        if len(files.sample) == 0:
            raise checks.InputError(
                "this StreamedData was read with sample=0, which is for validation data: training needs rows that "
                "decide the bins."
            )
        return files
    return stream_files(files, y=y, qid=qid, **_how(estimator))


def _how(estimator: Any) -> dict[str, Any]:
    """Return the options of an estimator that are also those of reading."""
    return {"n_jobs": estimator.n_jobs, "verbose": estimator.verbose}


def with_streamed_sets(
    estimator: Any, train: StreamedData, valid: Any, y: Any, qid: Any
) -> tuple[StreamedData, Any]:
    """Return training data and validation data, with names of files replaced by streams.

    All of them have the number of features of the widest LETOR file.
    """

    def opened(given: Any) -> Any:
        files, *own = given if _names_columns(given) else (given,)
        if not is_file_names(files):
            return given
        # Without columns of their own, Parquet files have those of the training files, and LETOR files need none.
        first = files[0] if isinstance(files, (list, tuple)) else files
        if not own and is_parquet(first):
            own = [y, qid]
        columns = dict(zip(("y", "qid"), own, strict=False))
        return stream_files(files, **columns, sample=0, **_how(estimator))

    if isinstance(valid, Mapping):
        valid = {name: opened(given) for name, given in valid.items()}
    elif _are_pairs(valid):
        valid = {name: opened(given) for name, given in valid}
    else:
        valid = opened(valid)
    sets = list(valid.values()) if isinstance(valid, dict) else [valid]
    width = max(data.n_features for data in [train, *sets] if isinstance(data, StreamedData))

    def widened(data: Any) -> Any:
        return data.widened(width) if isinstance(data, StreamedData) else data

    if isinstance(valid, dict):
        return train.widened(width), {name: widened(data) for name, data in valid.items()}
    return train.widened(width), widened(valid)


def _names_columns(given: Any) -> bool:
    """Return whether validation data is (files, y, qid), and not the names of three files."""
    if not (isinstance(given, tuple) and len(given) == 3 and is_file_names(given[1:])):
        return False
    if isinstance(given[0], (list, tuple)):
        return is_file_names(given[0])
    return is_file_names(given[:1]) and is_parquet(given[0]) and not any(map(is_parquet, given[1:]))


def _are_pairs(valid: Any) -> bool:
    """Return whether validation data is a list of pairs (name, set)."""
    return (
        isinstance(valid, (list, tuple))
        and bool(valid)
        and all(isinstance(pair, tuple) and len(pair) == 2 for pair in valid)
    )


def refuse_names(X: Any, valid: Any) -> None:
    """Raise if data is names of files and nobody has said that they are to be streamed."""
    if is_file_names(X):
        raise checks.InputError(
            "X is the name of a file: load it with load_letor, or give stream=True to train without loading it."
        )
    sets = valid.values() if isinstance(valid, Mapping) else [valid]
    if any(isinstance(one, StreamedData) for one in sets):
        raise checks.InputError(
            "the validation data is a stream and the training data is in memory: load it, as with load_letor."
        )


def scores_of_stream(ranker: Any, data: StreamedData) -> np.ndarray:
    """Return the scores of a stream, which is read block by block."""
    check_is_fitted(ranker, "model_")
    names = ranker._feature_names()
    data = (data.with_features(names) if names else data).widened(ranker.n_features_in_)
    return np.concatenate([ranker.predict(X) for X in data.blocks()])


def parameters_on(params: dict[str, Any], engine: str, train: RankingData) -> dict[str, Any]:
    """Return values that an engine has on a stream, of those parameters that aren't given."""
    if not isinstance(train, StreamedData):
        return {}
    own = base.abilities_of(engine).on_streams
    return {name: value for name, value in own.items() if params.get(name) is None}


def scratch_of(train: RankingData) -> AbstractContextManager[Scratch | None]:
    """Return a folder for the files of an engine, which is removed in any case; none unless the data is a stream."""
    return scratch_folder() if isinstance(train, StreamedData) else nullcontext()
