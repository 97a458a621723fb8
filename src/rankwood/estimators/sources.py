"""The data arguments of `fit`: what X is, as a source; the only place that asks."""

from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood._util.checks import InputError
from rankwood.data.source import Source
from rankwood.data.stream import StreamedData, stream_files
from rankwood.data.stream.files import is_file_names, is_parquet
from rankwood.fit.arguments import FitArguments, named_sets, training_data, with_columns_of_valid


class ReadingOptions(NamedTuple):
    """How files are read: threads, and whether to show a progress bar."""

    n_jobs: int | None
    verbose: bool | None


def local_data(
    arguments: FitArguments, stream: bool, reading: ReadingOptions, caller: str = "fit"
) -> tuple[Source, Any]:
    """Return the training data of `fit` or `tune` on one machine, and what there is of validation data."""
    checks.one_of(stream, (True, False), "stream")
    arguments = with_columns_of_valid(arguments, caller)
    if isinstance(arguments.X, Source):
        return _source_of(arguments, stream, reading)
    if stream:
        return _opened(arguments, reading)
    _refuse_names(arguments)
    return training_data(arguments, caller), arguments.valid


def is_streamed(arguments: FitArguments, stream: bool) -> bool:
    """Tell whether features stay in files, so that an estimator can refuse before anything is read."""
    return stream or (isinstance(arguments.X, Source) and arguments.X.in_blocks)


def check_trainable(data: Source) -> None:
    """Raise if data has no features, or a single document."""
    shape = (len(data), data.n_features)
    if data.n_features == 0:
        raise InputError(
            f"fit needs at least one feature, and X has no columns: 0 feature(s) (shape={shape}) while a minimum "
            "of 1 is required."
        )
    if len(data) == 1:
        raise InputError("fit needs at least two documents, and X has one (n_samples=1).")


def _source_of(
    arguments: FitArguments, stream: bool, reading: ReadingOptions
) -> tuple[Source, Any]:
    """Return data that the caller made: in memory, or in files."""

    def in_memory(X: Any) -> tuple[Source, Any]:
        if stream:
            raise InputError("X must be the name of a file, or a list of names, got RankingData.")
        _refuse_names(arguments)
        return training_data(arguments, "fit"), arguments.valid

    def in_files(files: StreamedData) -> tuple[Source, Any]:
        _refuse_others(arguments)
        if arguments.y is not None or arguments.qid is not None:
            raise InputError("a StreamedData knows its labels and queries: give it alone.")
        if len(files.sample) == 0:
            raise InputError(
                "this StreamedData was read with sample=0, which is for validation data: training needs rows that "
                "decide the bins."
            )
        return _with_sets(files, arguments, reading)

    source: Source = arguments.X
    return source.built(in_memory, in_files)


def _opened(arguments: FitArguments, reading: ReadingOptions) -> tuple[Source, Any]:
    """Return the training data of ``fit(files, y, qid=..., stream=True)``."""
    _refuse_others(arguments)
    train = stream_files(arguments.X, y=arguments.y, qid=arguments.qid, **reading._asdict())
    return _with_sets(train, arguments, reading)


def _refuse_others(arguments: FitArguments) -> None:
    """Raise if there are arguments that files can't be combined with."""
    for name in ("group", "weight", "sample_weight"):
        if getattr(arguments, name) is not None:
            raise InputError(f"{name} can't be given with stream=True: omit it.")


def _with_sets(
    train: StreamedData, arguments: FitArguments, reading: ReadingOptions
) -> tuple[StreamedData, Any]:
    """Return training data and validation data, with names of files replaced by streams.

    All of them have the number of features of the widest LETOR file.
    """
    pairs = named_sets(arguments.valid)
    unnamed = [("", arguments.valid)]
    opened = [
        (name, _opened_set(files, arguments, reading))
        for name, files in (unnamed if pairs is None else pairs)
    ]
    streams = [data for _, data in opened if isinstance(data, Source) and data.in_blocks]
    width = max(data.n_features for data in [train, *streams])
    wide = [(name, _widened(data, width)) for name, data in opened]
    return train.widened(width), wide[0][1] if pairs is None else wide


def _widened(valid: Any, width: int) -> Any:
    """Return validation data with as many features, if it is a stream."""
    if not isinstance(valid, Source):
        return valid
    return valid.built(lambda X: valid, lambda files: files.widened(width))


def _opened_set(valid: Any, arguments: FitArguments, reading: ReadingOptions) -> Any:
    """Return validation data, opened if it is names of files."""
    files, *columns = valid if _names_columns(valid) else (valid,)
    if not is_file_names(files):
        return valid
    # Without columns of their own, Parquet files have those of the training files, and LETOR files need none.
    first = files[0] if isinstance(files, (list, tuple)) else files
    if not columns and is_parquet(first):
        columns = [arguments.y, arguments.qid]
    names = dict(zip(("y", "qid"), columns, strict=False))
    return stream_files(files, **names, sample=0, **reading._asdict())


def _names_columns(valid: Any) -> bool:
    """Return whether validation data is (files, y, qid), and not the names of three files."""
    if not (isinstance(valid, tuple) and len(valid) == 3 and is_file_names(valid[1:])):
        return False
    if isinstance(valid[0], (list, tuple)):
        return is_file_names(valid[0])
    return is_file_names(valid[:1]) and is_parquet(valid[0]) and not any(map(is_parquet, valid[1:]))


def _refuse_names(arguments: FitArguments) -> None:
    """Raise if data is names of files and nothing says that they are to be streamed."""
    if is_file_names(arguments.X):
        raise InputError(
            "X is the name of a file: load it, with load_letor or as a table, or give stream_files(...) to train "
            "without loading it."
        )
    pairs = named_sets(arguments.valid)
    sets = [arguments.valid] if pairs is None else [data for _, data in pairs]
    if any(isinstance(data, Source) and data.in_blocks for data in sets):
        raise InputError(
            "the validation data is a stream and the training data is in memory: load it, as with load_letor."
        )
