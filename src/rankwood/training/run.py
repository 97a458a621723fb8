"""The rounds of one training run: gradients, a tree, an evaluation, and the time that each takes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rankwood._core.compiling import CompileTimer
from rankwood._core.progress import bar
from rankwood.engines import base
from rankwood.objectives.gradients import GradientComputer
from rankwood.training.context import Reporter, noting_compilation
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
    timer : CompileTimer
        Knows how long compilation has taken so far.
    reporter : Reporter or None
        Calls the callbacks after each round.
    after_round : callable or None
        Called after each round with the reason why it is the last, or "": it writes the checkpoint.
    rounds_done : int
        Trees grown so far.
    resumed_after : int
        Rounds of an earlier run, after which this one goes on; 0 if there is none.
    compiled_before : float
        Seconds of compilation in earlier processes, if the run goes on from a checkpoint.
    seconds : dict
        Time spent on complete rounds, by step, and on compilation, which is in no step.
    """

    engine: base.Engine
    computer: GradientComputer
    stopping: EarlyStopping
    recorder: Recorder
    takes_gradients: bool
    timer: CompileTimer
    reporter: Reporter | None = field(default=None, init=False)
    after_round: Callable[[str], None] | None = field(default=None, init=False)
    rounds_done: int = field(default=0, init=False)
    resumed_after: int = field(default=0, init=False)
    compiled_before: float = field(default=0.0, init=False)
    seconds: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        steps = ["compiling", "gradients", "trees", "evaluation"]
        steps += ["diagnostics"] * bool(self.recorder.curves)
        self.seconds = dict.fromkeys(steps, 0.0)
        self._round_seconds: dict[str, float] = {}

    @property
    def rounds_kept(self) -> int:
        """Trees of the model: up to the best round, or all if no metric decides."""
        best = self.stopping.best_round
        return self.rounds_done if best is None else best

    def train(self, rounds: int, verbose: bool | None) -> None:
        """Run the rounds, until early stopping or until no leaf can be split any more."""
        begin = self.timer.clock()
        with bar(rounds, "Training", verbose) as advance, noting_compilation(self.timer, advance):
            for _ in range(self.rounds_done):
                advance(self.stopping.note)
            for _ in range(self.rounds_done, rounds):
                ends = self._one_round(rounds)
                advance(self.stopping.note)
                stop = self._reported(ends, begin)
                if self.after_round is not None:
                    self.after_round(ends or ("callback" if stop else ""))
                if stop:
                    return

    def _one_round(self, rounds: int) -> str:
        """Grow a tree, evaluate, and add up the time; return why this was the last round, or ""."""
        clock = self.timer.clock
        spent = self._round_seconds = {"gradients": 0.0, "diagnostics": 0.0}
        start = clock()
        has_splits = self.engine.update(self._gradients)
        grown = clock()
        spent["trees"] = grown - start - spent["gradients"] - spent["diagnostics"]
        self.rounds_done += 1
        stop = self.stopping.after_round(self.engine, self.rounds_done)
        spent["evaluation"] = clock() - grown
        self.recorder.seconds(spent)
        self.seconds["compiling"] = self.compiled_before + self.timer.seconds
        for step in self.seconds:
            self.seconds[step] += spent.get(step, 0.0)
        if stop or not has_splits:
            return "early stopping" if stop else "no splits"
        return "rounds" if self.rounds_done == rounds else ""

    def _reported(self, ends: str, begin: float) -> bool:
        """Call the callbacks; return whether this was the last round."""
        if self.reporter is None:
            return bool(ends)
        start = self.timer.clock()
        try:
            return self.reporter(self.stopping, self.rounds_done, start - begin, ends)
        finally:
            self.seconds["callbacks"] += self.timer.clock() - start

    def _gradients(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradients of a round for the engine, and record what they are made of."""
        clock = self.timer.clock
        start = clock()
        grad, hess = self.computer(scores, self.rounds_done)
        computed = clock()
        self.recorder.gradients(scores, grad, self.rounds_done)
        if self.takes_gradients:
            self._round_seconds["gradients"] = computed - start
            start = computed
        self._round_seconds["diagnostics"] = clock() - start
        return grad, hess
