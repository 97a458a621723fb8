"""The metric of a study: what trials are compared by, and by which rules."""

from dataclasses import dataclass
from typing import Any, cast

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.trec.judgments import groups_by_id
from rankwood.fit.result import VALID
from rankwood.fit.validation import ValidationSets
from rankwood.metrics import conventions
from rankwood.metrics.evaluate import Evaluator
from rankwood.metrics.verbs import higher_is_better


@dataclass(frozen=True)
class Measure:
    """Metrics by name, the first of which decides, and their rules.

    Attributes
    ----------
    parts : dict
        The metrics.
    empty : dict
        The value of queries without relevant documents, by metric.
    ties : str
        The rule for equal scores.
    single : bool
        Whether scores are rounded to single precision.
    by_id : bool
        Whether equal scores go by decreasing document id.
    """

    parts: dict[str, Any]
    empty: dict[str, Any]
    ties: str
    single: bool
    by_id: bool = False

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

    def evaluators(self, sets: ValidationSets, n_jobs: int | None) -> dict[str, Evaluator]:
        """Return what evaluates scores of the documents of each set, by its name."""
        return {name: self._evaluator(data, n_jobs, name) for name, data in sets.by_name.items()}

    def _evaluator(self, data: Source, n_jobs: int | None, name: str) -> Evaluator:
        try:
            return Evaluator(
                self.parts,
                data.y,
                groups_by_id(cast("RankingData", data)) if self.by_id else data.groups,
                self.ties,
                self.empty,
                n_jobs=n_jobs,
                unlisted=data.unlisted,
                single=self.single,
            )
        except checks.InputError as error:
            where = "" if name == VALID else f" {name!r}"
            raise checks.InputError(f"metric on the validation data{where}: {error}") from None


def make_measure(metrics: Any, convention: str | None, ties: str | None, empty: Any) -> Measure:
    """Return the metric of a study; raise if a name or a rule is unknown."""
    listed = list(metrics) if isinstance(metrics, (list, tuple)) else [metrics]
    known = conventions.rules(convention, ties, empty)
    if not listed:
        raise checks.InputError("there is no metric; give one, such as metric='ndcg@10'.")
    built = {str(one): conventions.build(one, known) for one in listed}
    return Measure(
        {name: part for name, (part, _) in built.items()},
        {name: own for name, (_, own) in built.items()},
        known["ties"],
        known["scores"] == "float32",
        known["by_id"],
    )
