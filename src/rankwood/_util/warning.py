"""Warnings that point at the caller's line, not at a line of this package."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class DataWarning(UserWarning):
    """Data that can be used, but that looks as if something went wrong before.

    `fit` warns if all labels are equal, if validation data has queries of the training data, if rows are sorted by
    label and ``shuffle=False``, if a feature alone ranks nearly perfectly, and if the objective doesn't read the pairs
    of the data. `RankingData` warns if query ids seem to
    be among the features of a table, and `predict` if a categorical feature has values that the model lacks. The
    message says what to do.

    Examples
    --------
    >>> import warnings
    >>> import rankwood as rw
    >>> data = rw.load_demo("train")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", rw.DataWarning)
    ...     try:
    ...         _ = rw.Ranker(n_estimators=2).fit(data, valid=data)
    ...     except rw.DataWarning as warning:
    ...         print(str(warning).partition(":")[0])
    all 120 queries of the validation data are in the training data too
    """


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn, as from the line outside of this package that led here; Python shows one message of a line once."""
    level, frame = 1, sys._getframe(0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
