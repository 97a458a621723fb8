"""Model files of any kind: the file names the class that reads it."""

from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.data.letor.options import file_name
from rankwood.estimators.base import RankingEstimator
from rankwood.fit.files.model_file import kind_of
from rankwood.forest import Forest
from rankwood.forest.forest_file import is_forest_file

_KINDS = ("Ranker", "NeuralRanker", "TwoStage")


def estimator_class(kind: str) -> type[RankingEstimator]:
    """Return the class that files name, or raise if there is none."""
    if kind == "Ranker":
        from rankwood.estimators.ranker import Ranker

        return Ranker
    if kind == "NeuralRanker":
        from rankwood.estimators.neural_ranker import NeuralRanker

        return NeuralRanker
    if kind == "TwoStage":
        from rankwood.estimators.two_stage.estimator import TwoStage

        return TwoStage
    raise checks.InputError(f"unknown kind of model {kind!r}{checks.nearest(kind, _KINDS)}")


def load_estimator(path: str | Path) -> Any:
    """Return the fitted `Ranker`, `NeuralRanker` or `TwoStage` of a file."""
    return estimator_class(kind_of(path)).load(path)


def load(path: str | Path) -> Any:
    """Read any model that was saved: the file says what it is.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote, in this version or an earlier one, or ``rankwood train``.

    Returns
    -------
    Ranker, NeuralRanker, TwoStage or Forest
        What was saved; its predictions are bit-identical.

    Raises
    ------
    InputError
        If the file can't be read, is damaged, or holds something else.

    Examples
    --------
    >>> import os, tempfile
    >>> import rankwood as rw
    >>> name = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).save(name)
    >>> rw.load(name)
    Ranker(n_estimators=3, n_jobs=1)
    """
    name = file_name(path)
    return Forest.load(name) if is_forest_file(name) else load_estimator(name)
