"""Rankwood: learning to rank with boosted trees.

`load_letor` or `RankingData` for data, `Ranker` to train, `evaluate` for metrics, `compare` for models side
by side, `objective` and `gradients` for the losses themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwood._util.checks import InputError
from rankwood._version import __version__
from rankwood.data.letor import load_letor, save_letor
from rankwood.data.listwise_features import listwise_features
from rankwood.data.ranking_data import RankingData
from rankwood.data.synthetic import make_ranking
from rankwood.data.trec.files import Qrels, Run, load_qrels, load_run, save_qrels, save_run
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.registry import metric
from rankwood.objectives.bivariate import bivariate_gradients
from rankwood.objectives.families.registry import objective
from rankwood.objectives.gradients import gradients

if TYPE_CHECKING:
    from rankwood._util.warning import DataWarning
    from rankwood.cluster.arguments import on_cluster
    from rankwood.data.demo import load_demo
    from rankwood.data.stream import StreamedData, stream_files
    from rankwood.diagnostics import Diagnosis, diagnose
    from rankwood.engines.callables import engine_objective
    from rankwood.estimators.loading import load
    from rankwood.estimators.neural_ranker import NeuralRanker
    from rankwood.estimators.ranker import Ranker
    from rankwood.estimators.two_stage.estimator import TwoStage
    from rankwood.fit.files.checkpoint import Checkpoint
    from rankwood.forest import Forest
    from rankwood.report.comparison.compare import compare
    from rankwood.report.comparison.comparison import Comparison
    from rankwood.tuning import Tuning, tune

# These take a while to import (scikit-learn, SciPy), and most of the package does without them.
_LATER = {
    "Checkpoint": "rankwood.fit.files.checkpoint",
    "Comparison": "rankwood.report",
    "DataWarning": "rankwood._util.warning",
    "Diagnosis": "rankwood.diagnostics",
    "Forest": "rankwood.forest",
    "NeuralRanker": "rankwood.estimators.neural_ranker",
    "Ranker": "rankwood.estimators.ranker",
    "StreamedData": "rankwood.data.stream",
    "stream_files": "rankwood.data.stream",
    "TwoStage": "rankwood.estimators.two_stage.estimator",
    "compare": "rankwood.report",
    "diagnose": "rankwood.diagnostics",
    "engine_objective": "rankwood.engines.callables",
    "Tuning": "rankwood.tuning",
    "tune": "rankwood.tuning",
    "load": "rankwood.estimators.loading",
    "on_cluster": "rankwood.cluster.arguments",
    "load_demo": "rankwood.data.demo",  # which is a program too, so it must not be imported here
}

#: Sub-packages and modules that are reachable as attributes, loaded when they are first used.
_MODULES = (
    *("data", "datasets", "diagnostics", "distributed", "engines", "extend", "forest", "metrics"),
    *("callbacks", "neural", "objectives", "parts", "report", "reproduce", "spaces", "stats"),
    *("explanation", "export", "mlflow", "testing", "torch", "tuning"),
)

__all__ = [
    "Checkpoint",
    "Comparison",
    "DataWarning",
    "Diagnosis",
    "Evaluation",
    "Forest",
    "InputError",
    "NeuralRanker",
    "Qrels",
    "Ranker",
    "RankingData",
    "Run",
    "StreamedData",
    "Tuning",
    "TwoStage",
    "__version__",
    "bivariate_gradients",
    "compare",
    "diagnose",
    "engine_objective",
    "evaluate",
    "gradients",
    "listwise_features",
    "load",
    "load_demo",
    "load_letor",
    "load_qrels",
    "load_run",
    "make_ranking",
    "metric",
    "objective",
    "on_cluster",
    "save_letor",
    "save_qrels",
    "save_run",
    "stream_files",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _MODULES:
        return import_module(f"rankwood.{name}")
    raise AttributeError(f"module 'rankwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
