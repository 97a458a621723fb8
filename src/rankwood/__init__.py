"""Rankwood: learning to rank with boosted trees.

`load_letor` or `RankingData` for data, `Ranker` to train, `evaluate` for metrics, `compare` for models side
by side, `objective` and `gradients` for the losses themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwood._check import InputError
from rankwood._version import __version__
from rankwood.data.letor import load_letor, save_letor
from rankwood.data.lists import RankingData
from rankwood.data.listwise import listwise_features
from rankwood.data.trec import Qrels, Run, load_qrels, load_run, save_qrels, save_run
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.named import metric
from rankwood.objectives.bivariate import bivariate_gradients
from rankwood.objectives.drive import gradients
from rankwood.objectives.named import objective

if TYPE_CHECKING:
    from rankwood.diagnosis import diagnose
    from rankwood.ranker import Ranker
    from rankwood.report.compare import compare
    from rankwood.report.comparison import Comparison
    from rankwood.twostage import TwoStage

# What takes a while to import (scikit-learn, SciPy), and most of the package does without.
_LATER = {
    "Comparison": "rankwood.report",
    "Ranker": "rankwood.ranker",
    "TwoStage": "rankwood.twostage",
    "compare": "rankwood.report",
    "diagnose": "rankwood.diagnosis",
}

__all__ = [
    "Comparison",
    "Evaluation",
    "InputError",
    "Qrels",
    "Ranker",
    "RankingData",
    "Run",
    "TwoStage",
    "__version__",
    "bivariate_gradients",
    "compare",
    "diagnose",
    "evaluate",
    "gradients",
    "listwise_features",
    "load_letor",
    "load_qrels",
    "load_run",
    "metric",
    "objective",
    "save_letor",
    "save_qrels",
    "save_run",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'rankwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
