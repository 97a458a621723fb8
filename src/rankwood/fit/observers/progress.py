"""The progress bar of a run."""

from collections.abc import Iterator
from contextlib import contextmanager

from rankwood._kernels.compile.timer import COMPILING, CompileTimer
from rankwood._util.progress import Advance, bar
from rankwood.fit.run import Observer, TrainingRun


class ProgressBar(Observer):
    """Moves a progress bar on after each round, with the metric that decides beside it."""

    def __init__(self, advance: Advance) -> None:
        self._advance = advance

    def after_round(self, run: TrainingRun) -> str:
        """Move on by a round."""
        self._advance(run.note)
        return ""


@contextmanager
def progress_bar(run: TrainingRun) -> Iterator[ProgressBar]:
    """Show a progress bar on a terminal, which also says when kernels are compiled."""
    with bar(run.spec.rounds, "Training", run.spec.verbose) as advance:
        if run.number:
            advance(run.note, run.number)
        with _noting_compilation(run.timer, advance):
            yield ProgressBar(advance)


@contextmanager
def _noting_compilation(timer: CompileTimer, advance: Advance) -> Iterator[None]:
    before, timer.on_compile = timer.on_compile, lambda: advance(COMPILING, 0)
    try:
        yield
    finally:
        timer.on_compile = before
