"""The rounds of one training run: gradients, a tree, an evaluation, and the time that each takes."""

from time import perf_counter

import numpy as np

from rankwood._core.progress import bar
from rankwood.engines import base
from rankwood.objectives.gradients import GradientComputer
from rankwood.training.monitoring import EarlyStopping, Recorder


class TrainingRun:
    """One training run.

    An engine grows the trees from the gradients of a computer; `takes_gradients` is false if it has its own, and
    ours are for the record.

    Attributes
    ----------
    rounds_done : int
        Trees grown so far.
    seconds : dict
        Time spent on complete rounds, by step.
    """

    def __init__(
        self,
        engine: base.Engine,
        computer: GradientComputer,
        stopping: EarlyStopping,
        recorder: Recorder,
        takes_gradients: bool,
    ) -> None:
        self._engine = engine
        self._computer = computer
        self._stopping = stopping
        self._recorder = recorder
        self._takes_gradients = takes_gradients
        self.rounds_done = 0
        steps = ["gradients", "trees", "evaluation"]
        self.seconds = dict.fromkeys(steps + ["diagnostics"] * bool(recorder.curves), 0.0)
        self._round_seconds: dict[str, float] = {}

    @property
    def rounds_kept(self) -> int:
        """Trees of the model: up to the best round, or all if no metric decides."""
        best = self._stopping.best_round
        return self.rounds_done if best is None else best

    def train(self, rounds: int, verbose: bool | None) -> None:
        """Run the rounds, until early stopping or until no leaf can be split any more."""
        with bar(rounds, "Training", verbose) as advance:
            for _ in range(rounds):
                can_go_on = self._one_round()
                advance(self._stopping.note)
                if not can_go_on:
                    return

    def _one_round(self) -> bool:
        """Grow a tree, evaluate, and add up the time; return False if this was the last round."""
        spent = self._round_seconds = {"gradients": 0.0, "diagnostics": 0.0}
        start = perf_counter()
        has_splits = self._engine.update(self._gradients)
        grown = perf_counter()
        spent["trees"] = grown - start - spent["gradients"] - spent["diagnostics"]
        self.rounds_done += 1
        stop = self._stopping.after_round(self._engine, self.rounds_done)
        spent["evaluation"] = perf_counter() - grown
        self._recorder.seconds(spent)
        for step in self.seconds:
            self.seconds[step] += spent[step]
        return has_splits and not stop

    def _gradients(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradients of a round for the engine, and record what they are made of."""
        start = perf_counter()
        grad, hess = self._computer(scores, self.rounds_done)
        computed = perf_counter()
        self._recorder.gradients(scores, grad, self.rounds_done)
        if self._takes_gradients:
            self._round_seconds["gradients"] = computed - start
            start = computed
        self._round_seconds["diagnostics"] = perf_counter() - start
        return grad, hess
