"""The rounds of one training run: gradients, a tree, an evaluation, and the time that each takes."""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from rankwood._core.progress import bar
from rankwood.engines import base
from rankwood.objectives.gradients import GradientComputer
from rankwood.training.context import Watch
from rankwood.training.monitoring import EarlyStopping, Recorder


@dataclass
class TrainingRun:
    """One training run.

    Attributes
    ----------
    engine : Engine
        Grows the trees.
    computer : GradientComputer
        Computes the gradients of the objective.
    stopping : EarlyStopping
        Evaluates the model after each round.
    recorder : Recorder
        Records the curves that the user chose.
    takes_gradients : bool
        Whether the engine takes our gradients; if it has its own, ours are for the record only.
    watch : callable or None
        Called after each round with its number and its first metric; may end training.
    rounds_done : int
        Trees grown so far.
    seconds : dict
        Time spent on complete rounds, by step.
    """

    engine: base.Engine
    computer: GradientComputer
    stopping: EarlyStopping
    recorder: Recorder
    takes_gradients: bool
    watch: Watch | None = None
    rounds_done: int = field(default=0, init=False)
    seconds: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        steps = ["gradients", "trees", "evaluation"]
        self.seconds = dict.fromkeys(steps + ["diagnostics"] * bool(self.recorder.curves), 0.0)
        self._round_seconds: dict[str, float] = {}

    @property
    def rounds_kept(self) -> int:
        """Trees of the model: up to the best round, or all if no metric decides."""
        best = self.stopping.best_round
        return self.rounds_done if best is None else best

    def train(self, rounds: int, verbose: bool | None) -> None:
        """Run the rounds, until early stopping or until no leaf can be split any more."""
        with bar(rounds, "Training", verbose) as advance:
            for _ in range(rounds):
                can_go_on = self._one_round()
                advance(self.stopping.note)
                if not can_go_on:
                    return

    def _one_round(self) -> bool:
        """Grow a tree, evaluate, and add up the time; return False if this was the last round."""
        spent = self._round_seconds = {"gradients": 0.0, "diagnostics": 0.0}
        start = perf_counter()
        has_splits = self.engine.update(self._gradients)
        grown = perf_counter()
        spent["trees"] = grown - start - spent["gradients"] - spent["diagnostics"]
        self.rounds_done += 1
        stop = self.stopping.after_round(self.engine, self.rounds_done)
        value = self.stopping.latest
        if self.watch is not None and value is not None and not stop:
            stop = self.watch(self.rounds_done, value)
        spent["evaluation"] = perf_counter() - grown
        self.recorder.seconds(spent)
        for step in self.seconds:
            self.seconds[step] += spent[step]
        return has_splits and not stop

    def _gradients(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradients of a round for the engine, and record what they are made of."""
        start = perf_counter()
        grad, hess = self.computer(scores, self.rounds_done)
        computed = perf_counter()
        self.recorder.gradients(scores, grad, self.rounds_done)
        if self.takes_gradients:
            self._round_seconds["gradients"] = computed - start
            start = computed
        self._round_seconds["diagnostics"] = perf_counter() - start
        return grad, hess
