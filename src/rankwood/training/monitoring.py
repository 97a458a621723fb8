"""Following a training run: validation metrics and early stopping, and curves that are recorded on request."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.metrics.evaluate import Evaluator, named_metrics
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.verbs import higher_is_better
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.incoherence import IncoherenceCheck
from rankwood.objectives.inspection import PairCounter
from rankwood.objectives.position_weights import cutoff
from rankwood.objectives.units import has_pair_set, read_labels, unit_of
from rankwood.training.fingerprints import fingerprint
from rankwood.training.inputs import VALID, ValidationSets

#: Values of `Ranker(record=...)`, and the curves that each one adds to `record_`.
RECORDS = {
    "effective_pairs": ("effective_pairs",),
    "coherency": ("incoherent", "false_over_missed"),
    "seconds": ("seconds_gradients", "seconds_trees", "seconds_evaluation"),
}
_ROUNDING = 1e-5  # error of float32 sums, relative to the largest gradient of a query


class Scored(Protocol):
    """What is trained: an engine, or anything else with scores of the validation data."""

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""


class Evaluates(Protocol):
    """What evaluates a validation set: an `Evaluator`, or the workers of a cluster together."""

    #: Parts by name.
    metrics: dict[str, Any]

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the values of each query."""


class EarlyStopping:
    """Evaluate the validation data after each round, and decide when to stop.

    Parameters
    ----------
    eval_metric : str, part, or list of them
        The metrics, by the default rules; the first one decides.
    patience : int or None
        Rounds without an improvement after which training stops; None keeps all rounds.
    valid : ValidationSets, RankingData or None
        The validation data; the first set decides.
    n_jobs : int or None
        Number of threads of the evaluation.
    evaluators : dict, optional
        Evaluate the sets of these names, in place of `eval_metric`; all of them or none.

    Attributes
    ----------
    history : dict
        The mean of each metric, by round; empty without validation data. Metrics of the first set have their plain
        names, those of others the name of the set before, as in ``"later ndcg@10"``.
    best_round : int or None
        The round (from 1) with the best first metric. None means that all rounds are kept: there is no validation
        data, or no `patience`.
    note : str
        The last value and the best one, for the progress bar.
    """

    def __init__(
        self,
        eval_metric: Any,
        patience: int | None,
        valid: ValidationSets | RankingData | None,
        n_jobs: int | None,
        evaluators: Mapping[str, Evaluates] = MappingProxyType({}),
    ) -> None:
        given = next(iter(evaluators.values()), None)
        metrics = named_metrics(eval_metric) if given is None else given.metrics
        sets = ValidationSets.single(valid) if isinstance(valid, RankingData) else valid
        self.patience = patience
        self.best_round: int | None = None
        self.note = ""
        self._first = next(iter(metrics))
        self._sign = 1 if higher_is_better(metrics[self._first]) else -1
        self._sets = sets
        self._evaluators: dict[str, Evaluates] = {}
        for name, data in sets.by_name.items() if sets else ():
            known = evaluators.get(name)
            self._evaluators[name] = known or _evaluator(metrics, data, n_jobs, name)
        self.history: dict[str, list[float]] = {
            self._key(name, m): [] for name, own in self._evaluators.items() for m in own.metrics
        }

    @property
    def set_names(self) -> list[str]:
        """Names of the validation sets; the first one decides."""
        return list(self._evaluators)

    def _key(self, name: str, metric: str) -> str:
        """Return the key of a metric of a set in the history."""
        return metric if name == next(iter(self._evaluators)) else f"{name} {metric}"

    def fingerprints(self) -> list[str]:
        """Return digests of the validation sets."""
        return [fingerprint(data) for data in self._sets.by_name.values()] if self._sets else []

    def restore(self, history: dict[str, list[float]]) -> bool:
        """Set what is known of earlier rounds; return True if training should have stopped after the last of them."""
        for name, curve in self.history.items():
            curve.extend(history[name])
        rounds = len(self.history.get(self._first, ()))
        return any(self._stops(number) for number in range(1, rounds + 1))

    def latest_by_set(self) -> dict[str, dict[str, float]]:
        """Return the values of the last round by set and metric."""
        return {
            name: {metric: self.history[self._key(name, metric)][-1] for metric in own.metrics}
            for name, own in self._evaluators.items()
        }

    def after_round(self, engine: Scored, rounds_done: int) -> bool:
        """Evaluate a round; return True if training should stop."""
        if self._sets is None:
            return False
        scores = self._sets.scores_by_name(engine.valid_scores())
        for name, own in self._evaluators.items():
            for metric, mean in own(scores[name]).mean().items():
                self.history[self._key(name, metric)].append(mean)
        return self._stops(rounds_done)

    def _stops(self, number: int) -> bool:
        """Compare a round that is evaluated with the best one; return True if training should stop after it."""
        curve = self.history[self._first]
        self.note = f"{self._first} {curve[number - 1]:.4f}"
        if self.patience is None:
            return False
        best = self.best_round
        if best is None or self._sign * (curve[number - 1] - curve[best - 1]) > 0:
            best = self.best_round = number
        self.note += f" (best {curve[best - 1]:.4f} at {best})"
        return number - best >= self.patience


def _evaluator(
    metrics: dict[str, Any], valid: RankingData, n_jobs: int | None, name: str
) -> Evaluator:
    """Return what evaluates a set of validation data."""
    try:
        return Evaluator(metrics, valid.y, valid.groups, n_jobs=n_jobs, unlisted=valid.unlisted)
    except checks.InputError as error:
        where = "" if name == VALID else f" {name!r}"
        raise checks.InputError(f"eval_metric on the validation data{where}: {error}") from None


def named_records(record: Any) -> list[str]:
    """Return the names of what to record, each once, in the order of `RECORDS`; cutoffs are left out."""
    given = [] if record is None else [record] if isinstance(record, str) else record
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise checks.InputError(
            f"record must be a list of {', '.join(map(repr, RECORDS))}, got {record!r}."
        )
    names = ["coherency" if _coherency_at(name) else name for name in given]
    for name in names:
        if name not in RECORDS:
            raise checks.InputError(f"unknown record {name!r}{checks.nearest(str(name), RECORDS)}")
    return [name for name in RECORDS if name in names]


def _coherency_at(name: Any) -> int | None:
    """Return the cutoff of a name such as ``"coherency@5"``; None if it is another name."""
    found = re.fullmatch(r"coherency@([1-9]\d{0,8})", str(name))
    return int(found[1]) if found else None


def coherency_cutoff(record: Any, objective: Any) -> int | None:
    """Return the k of false and missed documents: the one that is recorded at, or that of the objective."""
    given = [record] if isinstance(record, str) or record is None else record
    found = {k for k in map(_coherency_at, given) if k is not None}
    if len(found) > 1:
        raise checks.InputError(f"record: give 'coherency' one cutoff, got {sorted(found)}.")
    return found.pop() if found else cutoff(objective)


def records_of(objective: Any) -> list[str]:
    """Return what can be recorded: effective pairs if there is a pair set, coherency if documents have gradients."""
    possible = {
        "effective_pairs": has_pair_set(objective),
        "coherency": unit_of(objective) == "documents",
    }
    return [name for name in RECORDS if possible.get(name, True)]


class Recorder:
    """Record what an objective does in each round; training isn't changed by it.

    `curves` has one value per round, by name; see `Ranker`. The values are exact: every round and every query counts.
    """

    def __init__(
        self, record: Any, computer: GradientComputer, y: np.ndarray, groups: Groups
    ) -> None:
        names, objective, n_jobs = named_records(record), computer.objective, computer.n_jobs
        self.curves: dict[str, list[float]] = {c: [] for name in names for c in RECORDS[name]}
        self._computer = computer
        self._pairs: PairCounter | None = None
        self._incoherence: IncoherenceCheck | None = None
        if "coherency" in names and unit_of(objective) == "pairs":
            raise checks.InputError(
                "record: 'coherency' is of documents, and this objective has gradients of pairs."
            )
        if "effective_pairs" in names:
            options = {"real": computer.real, "n_jobs": n_jobs, "seed": computer.seed}
            self._pairs = PairCounter(objective, y, groups, unlisted=computer.unlisted, **options)
        if "coherency" in names:
            k, label = coherency_cutoff(record, objective), read_labels(objective, y)
            self._incoherence = IncoherenceCheck(
                label, groups, k, tolerance=_ROUNDING, n_jobs=n_jobs
            )
            if k is None:  # without a cutoff no document is false or missed
                del self.curves["false_over_missed"]

    def gradients(self, scores: np.ndarray, grad: np.ndarray, round_index: int) -> None:
        """Record the pairs and the coherency of the gradients that the computer has just returned."""
        if self._pairs is not None:
            share = self._pairs.share(scores, round_index, at=self._computer)
            self.curves["effective_pairs"].append(share)
        if self._incoherence is not None:
            found = self._incoherence(scores, grad, self._computer.ranking)
            for name, share in zip(RECORDS["coherency"], found.mean(axis=0).tolist(), strict=True):
                if name in self.curves:
                    self.curves[name].append(share)

    def seconds(self, spent: dict[str, float]) -> None:
        """Record the time that the steps of a round took."""
        for name in RECORDS["seconds"]:
            if name in self.curves:
                self.curves[name].append(spent[name.removeprefix("seconds_")])

    def first_rounds(self, rounds: int) -> dict[str, list[float]]:
        """Return the curves of the first rounds, all of one length, even after an interrupt within a round."""
        length = min([rounds, *map(len, self.curves.values())])
        return {name: curve[:length] for name, curve in self.curves.items()}
