"""The loop of trials, which is the same for all optimisers."""

from time import perf_counter
from typing import Any, NamedTuple

from rankwood._util import interrupts
from rankwood._util.checks import InputError
from rankwood._util.progress import bar
from rankwood._util.text import plural
from rankwood.tuning.records import TrialOutcome, TrialRecord, record_of
from rankwood.tuning.result import Tuning, TuningInterrupt
from rankwood.tuning.spaces.space import Space
from rankwood.tuning.store import StudyStore, quiet
from rankwood.tuning.trials import Pruned, Task, TrialResult
from rankwood.tuning.tuners import Tuner


class StudyLimits(NamedTuple):
    """When a study ends: after a number of trials, or when trials have taken this many seconds."""

    trials: int
    seconds: float


class _Reporter:
    """Reports the best value so far to Optuna, every few steps, and returns whether to prune the trial."""

    def __init__(self, trial: Any, every: int) -> None:
        self._trial = trial
        self._every = every
        self.step = 0

    def __call__(self, step: int, value: float) -> bool:
        self.step = step
        if step % self._every:
            return False
        self._trial.report(value, step)
        return bool(self._trial.should_prune())


class Loop:
    """The trials of a study, one after the other.

    Parameters
    ----------
    task : Task
        What trials have in common.
    space : Space
        What is tuned.
    store : StudyStore
        Where finished trials are kept.
    tuner : Tuner
        Proposes the parameters of trials.
    every : int
        After how many steps a trial is compared with others.
    """

    def __init__(
        self, task: Task, space: Space, store: StudyStore, tuner: Tuner, every: int
    ) -> None:
        self._task, self._space, self._store, self._tuner = task, space, store, tuner
        self._every = every
        self._records: list[TrialRecord] = []
        self._best: TrialRecord | None = None
        self._fitted: Any = None  # the best ranker, if this process has trained it

    def run(self, limits: StudyLimits, verbose: bool | None) -> Tuning:
        """Run trials until the limits are reached; those that the store has are not repeated."""
        try:
            with interrupts.held():
                return self._run(limits, verbose)
        except KeyboardInterrupt:
            raise TuningInterrupt(self._interrupted(), self._result()) from None

    def _run(self, limits: StudyLimits, verbose: bool | None) -> Tuning:
        with quiet():
            for trial in self._store.finished:
                record = self._take_in(record_of(trial, self._space), None)
                self._tuner.replay(record.number, self._loss(record))
        left = limits.trials - len(self._records)
        with bar(max(left, 0), "Tuning", verbose, pause=0) as advance:
            for _ in range(left):
                interrupts.deliver()
                if (self._records and self._spent() >= limits.seconds) or not self._one():
                    break
                advance(self._note())
        return self._finished()

    def _one(self) -> bool:
        """Run a trial and keep it; return False if there is nothing left to try."""
        number = len(self._records)
        with quiet():
            trial = self._tuner.ask(self._store.study, number)
        if trial is None:
            return False
        start = perf_counter()
        reporter = _Reporter(trial, self._every)
        params = {**self._space.fixed, **self._space.decoded(trial.params)}
        outcome = self._attempt(params, reporter)
        seconds = perf_counter() - start
        with quiet():
            value, rounds, _ = outcome.fitted or (None, reporter.step, None)
            facts = {"seconds": seconds, "rounds": rounds, "message": outcome.message}
            for name, fact in facts.items():
                trial.set_user_attr(name, fact)
            frozen = self._store.study.tell(trial, value, state=outcome.optuna_state)
            self._store.keep()
            record = self._take_in(record_of(frozen, self._space), outcome.fitted)
            self._tuner.tell(number, self._loss(record))
        return True

    def _attempt(self, params: dict[str, Any], reporter: _Reporter) -> TrialOutcome:
        """Run a trial; whatever it raises but an interrupt is part of its outcome."""
        try:
            return TrialOutcome("complete", self._task.run(params, reporter))
        except Pruned:
            return TrialOutcome("pruned")
        except Exception as error:  # one failed trial must not end the study
            text = " ".join(str(error).split()) or "no message"
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            return TrialOutcome("failed", message=kind + text)

    def _take_in(self, record: TrialRecord, fitted: TrialResult | None) -> TrialRecord:
        """Add a finished trial, and note whether it is the best."""
        self._records.append(record)
        sign, best = self._task.measure.sign, self._best
        if record.state == "complete" and (best is None or sign * (record.value - best.value) > 0):
            self._best, self._fitted = record, fitted and fitted.ranker
        return record

    def _loss(self, record: TrialRecord) -> float | None:
        """Return what optimisers minimise; None if a trial failed."""
        return None if record.state == "failed" else -self._task.measure.sign * record.value

    def _spent(self) -> float:
        return sum(record.seconds for record in self._records)

    def _note(self) -> str:
        best = self._best
        name = self._task.measure.name
        return "" if best is None else f"best {name} {best.value:.4f} (trial {best.number})"

    def _result(self) -> Tuning:
        return Tuning(self._task, self._space, self._records, self._store.study, self._fitted)

    def _finished(self) -> Tuning:
        """Return the result, with the best ranker fitted; raise if no trial is complete."""
        if self._best is None:
            reason = next((one.message for one in self._records if one.message), "no message.")
            raise InputError(
                f"{plural(len(self._records), 'trial')} failed and none is complete; the first said: {reason}"
            )
        if self._fitted is None:  # another process has run the best trial, or there are folds
            self._fitted = self._task.refit(self._best.params, self._best.rounds)
        return self._result()

    def _interrupted(self) -> str:
        """Return the message of an interrupt."""
        verb = "is" if len(self._records) == 1 else "are"
        done = plural(len(self._records), "finished trial")
        where = f" kept in {self._store.path}" if self._store.path and self._records else ""
        best = f", {self._note()}" if self._best else ""
        return f"interrupted; there {verb} {done}{where}{best}."
