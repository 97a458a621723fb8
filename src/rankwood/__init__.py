"""Rankwood: learning to rank with boosted trees.

`load_letor` or `RankingData` for data, `Ranker` to train, `evaluate` for metrics, `objective` and
`gradients` for the losses themselves.
"""

from typing import TYPE_CHECKING, Any

from rankwood._check import InputError
from rankwood._version import __version__
from rankwood.data.letor import load_letor, save_letor
from rankwood.data.lists import RankingData
from rankwood.metrics.evaluate import evaluate, metric
from rankwood.metrics.evaluation import Evaluation
from rankwood.objectives.drive import gradients
from rankwood.objectives.named import objective

if TYPE_CHECKING:
    from rankwood.ranker import Ranker

__all__ = [
    "Evaluation",
    "InputError",
    "Ranker",
    "RankingData",
    "__version__",
    "evaluate",
    "gradients",
    "load_letor",
    "metric",
    "objective",
    "save_letor",
]


def __getattr__(name: str) -> Any:
    if (
        name == "Ranker"
    ):  # scikit-learn takes a second to import, and most of the package does without
        from rankwood.ranker import Ranker

        return Ranker
    raise AttributeError(f"module 'rankwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
