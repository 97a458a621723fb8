"""The metric of a study: what trials are compared by, and by which rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.metrics import conventions
from rankwood.metrics.evaluate import Evaluator
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.verbs import higher_is_better


class _RoundedEvaluator(Evaluator):
    """An evaluator of scores in single precision, as some programs keep them."""

    def __call__(self, scores: np.ndarray) -> Evaluation:
        return super().__call__(scores.astype(np.float32).astype(np.float64))


@dataclass(frozen=True)
class Measure:
    """Metrics by name, the first of which decides, and the rules for ties and empty queries."""

    parts: dict[str, Any]
    empty: dict[str, Any]
    ties: str
    single: bool
    #: The rules as the caller gave them, to be shown and remembered.
    given: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the metric that decides."""
        return next(iter(self.parts))

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values are better."""
        return bool(higher_is_better(self.parts[self.name]))

    @property
    def sign(self) -> int:
        """1 if larger values are better, else -1."""
        return 1 if self.higher_is_better else -1

    @property
    def direction(self) -> str:
        """The direction of the search, in Optuna's words."""
        return "maximize" if self.higher_is_better else "minimize"

    def evaluator(self, data: RankingData, n_jobs: int | None) -> Evaluator:
        """Return what evaluates scores of these documents."""
        kind = _RoundedEvaluator if self.single else Evaluator
        try:
            return kind(
                self.parts,
                data.y,
                data.groups,
                self.ties,
                self.empty,
                n_jobs=n_jobs,
                unlisted=data.unlisted,
            )
        except checks.InputError as error:
            raise checks.InputError(f"metric on the validation data: {error}") from None


def measure(metrics: Any, convention: str | None, ties: str | None, empty: Any) -> Measure:
    """Return the metric of a study; raise if a name or a rule is unknown."""
    listed = list(metrics) if isinstance(metrics, (list, tuple)) else [metrics]
    known = conventions.rules(convention, ties, empty)
    if not listed:
        raise checks.InputError("there is no metric; give one, such as metric='ndcg@10'.")
    built = {str(one): conventions.build(one, known) for one in listed}
    rules = {"convention": convention, "ties": ties, "empty": empty}
    return Measure(
        {name: part for name, (part, _) in built.items()},
        {name: own for name, (_, own) in built.items()},
        known["ties"],
        known["scores"] == "float32",
        {name: rule for name, rule in rules.items() if rule is not None},
    )
