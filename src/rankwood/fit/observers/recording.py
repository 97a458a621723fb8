"""Curves that are recorded on request: what an objective does in each round."""

import re
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.fit.run import Observer, TrainingRun
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.incoherence import IncoherenceCheck
from rankwood.objectives.inspection import PairCounter
from rankwood.objectives.position_weights import cutoff
from rankwood.objectives.units import has_pair_set, read_labels, reads_pairs, unit_of

#: Values of `Ranker(record=...)`, and the curves that each one adds to `record_`.
RECORDS = {
    "effective_pairs": ("effective_pairs",),
    "coherency": ("incoherent", "false_over_missed"),
    "seconds": ("seconds_gradients", "seconds_trees", "seconds_evaluation"),
}
_ROUNDING = 1e-5  # error of float32 sums, relative to the largest gradient of a query


class CoherencyRules(NamedTuple):
    """The cutoff and the definition of false and missed documents; None and "" where the name of a record has none."""

    k: int | None = None
    definition: str = ""


_COHERENCY = re.compile(
    r"coherency(?:@([1-9]\d{0,8}))?(?:\(definition=(['\"]?)(program|paper)\2\))?"
)


def _rules_in(name: Any) -> CoherencyRules | None:
    """Return the rules in a name such as ``"coherency@5(definition=paper)"``; None if it is another name."""
    match = _COHERENCY.fullmatch(str(name))
    if match is None:
        return None
    return CoherencyRules(None if match[1] is None else int(match[1]), match[3] or "")


def plain_record(name: Any) -> Any:
    """Return a name without cutoff and definition."""
    return name if _rules_in(name) is None else "coherency"


def named_records(record: Any) -> list[str]:
    """Return the names of what to record, each once, in the order of `RECORDS`; cutoffs are omitted."""
    listed = [] if record is None else [record] if isinstance(record, str) else record
    if not isinstance(listed, (list, tuple, set, frozenset)):
        raise checks.InputError(
            f"record must be a list of {', '.join(map(repr, RECORDS))}, got {record!r}."
        )
    names = [plain_record(name) for name in listed]
    for name in names:
        if name not in RECORDS:
            raise checks.InputError(f"unknown record {name!r}{checks.nearest(str(name), RECORDS)}")
    return [name for name in RECORDS if name in names]


def coherency_rules(record: Any, objective: Any) -> CoherencyRules:
    """Return the rules for coherency: those in `record`, else the objective's cutoff, and the program's definition."""
    names = [record] if isinstance(record, str) or record is None else record
    found = [rules for rules in map(_rules_in, names) if rules is not None]
    cutoffs = sorted({rules.k for rules in found if rules.k is not None})
    definitions = sorted({rules.definition for rules in found if rules.definition})
    for what, values in (("cutoff", cutoffs), ("definition", definitions)):
        if len(values) > 1:
            raise checks.InputError(f"record: give 'coherency' one {what}, got {values}.")
    k = cutoffs[0] if cutoffs else cutoff(objective)
    return CoherencyRules(k, definitions[0] if definitions else "program")


def _why_not(name: str, objective: Any) -> str | None:
    """Return why an objective has nothing to record by this name; None if it has."""
    if name == "effective_pairs" and reads_pairs(objective):
        return "its pairs are those of the data, the same in every round"
    if name == "effective_pairs" and not has_pair_set(objective):
        return "it has no pairs"
    if name == "coherency" and unit_of(objective) == "pairs":
        return "its gradients are of pairs, not of documents"
    return None


def records_of(objective: Any) -> list[str]:
    """Return what can be recorded: effective pairs if there is a pair set, coherency if documents have gradients."""
    return [name for name in RECORDS if _why_not(name, objective) is None]


def check_records(record: Any, objective: Any) -> None:
    """Raise if an objective lacks something of what is to be recorded."""
    for name in named_records(record):
        reason = _why_not(name, objective)
        if reason is not None:
            others = ", ".join(map(repr, records_of(objective)))
            raise checks.InputError(
                f"record: this objective has no {name!r}, only {others}: {reason}."
            )


class Recorder(Observer):
    """Record what an objective does in each round; training isn't changed by it.

    `curves` has one value per round, by name; see `Ranker`. The values are exact: every round and every query counts.
    """

    def __init__(
        self, record: Any, computer: GradientComputer | None, y: np.ndarray, groups: Groups
    ) -> None:
        names = named_records(record)
        self.curves: dict[str, list[float]] = {c: [] for name in names for c in RECORDS[name]}
        self._pairs: PairCounter | None = None
        self._incoherence: IncoherenceCheck | None = None
        if computer is None:
            return
        objective, n_jobs = computer.objective, computer.n_jobs
        self._computer = computer
        if "effective_pairs" in names:
            options = {"dtype": computer.dtype, "n_jobs": n_jobs, "seed": computer.seed}
            self._pairs = PairCounter(objective, y, groups, unlisted=computer.unlisted, **options)
        if "coherency" in names:
            rules, label = coherency_rules(record, objective), read_labels(objective, y)
            self._incoherence = IncoherenceCheck(
                label, groups, rules.k, rules.definition, tolerance=_ROUNDING, n_jobs=n_jobs
            )
            if rules.k is None:  # without a cutoff no document is false or missed
                del self.curves["false_over_missed"]

    @property
    def needs_gradients(self) -> bool:
        """Whether anything is recorded of the gradients, and not only times."""
        return self._pairs is not None or self._incoherence is not None

    def gradients(self, scores: np.ndarray, grad: np.ndarray, round_index: int) -> None:
        """Record the pairs and the coherency of the gradients that the computer has just returned."""
        if self._pairs is not None:
            share = self._pairs.share(scores, round_index, at=self._computer)
            self.curves["effective_pairs"].append(share)
        if self._incoherence is not None:
            shares = self._incoherence(scores, grad, self._computer.ranking)
            for name, share in zip(RECORDS["coherency"], shares.mean(axis=0).tolist(), strict=True):
                if name in self.curves:
                    self.curves[name].append(share)

    def after_round(self, run: TrainingRun) -> str:
        """Record the time that the steps of the round took."""
        for name in RECORDS["seconds"]:
            if name in self.curves:
                step = name.removeprefix("seconds_")
                step = run.learner.step_name if step == "trees" else step
                self.curves[name].append(run.spent.get(step, 0.0))
        return ""
