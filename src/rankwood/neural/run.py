"""The epochs of one training run."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwood._core import checks
from rankwood._core.compiling import CompileTimer
from rankwood._core.progress import bar
from rankwood._core.rng import generator_at, round_state
from rankwood.neural.architectures.table import architecture_of
from rankwood.neural.batches import training_batches
from rankwood.neural.data import ResidentData
from rankwood.neural.library import need_torch
from rankwood.neural.loss import BatchGradient, Objective
from rankwood.neural.optimisation import set_rate
from rankwood.neural.passes import PlainPass, RecordedPass, TrainingBatch, record
from rankwood.neural.scoring import Scorer, weights_of
from rankwood.neural.state import RunState, Snapshot
from rankwood.training.context import Reporter, noting_compilation
from rankwood.training.monitoring import EarlyStopping

_STEPS = 1 << 20  # rounds reserved for each epoch, so that no two steps share their random draws


class RunSettings(NamedTuple):
    """How a network is trained, by the parameters of `NeuralRanker`; `half`: layers compute in bfloat16."""

    architecture: str
    epochs: int
    learning_rate: float
    schedule: str
    clip: float | None
    half: bool
    shuffles: int
    seed: int
    n_jobs: int | None


class NetworkParts(NamedTuple):
    """What a run trains, and on what."""

    network: Any
    optimiser: Any
    objective: Objective
    train: ResidentData
    valid: ResidentData | None


class Writer(Protocol):
    """What writes a run after each epoch."""

    def write(self, run: "NeuralRun") -> None:
        """Write the state of a run."""


class NeuralRun:
    """One training run: steps through batches, an evaluation after each epoch, and the best epoch."""

    def __init__(
        self,
        settings: RunSettings,
        parts: NetworkParts,
        stopping: EarlyStopping,
        state: RunState,
        timer: CompileTimer,
    ) -> None:
        self.settings, self.parts, self.stopping, self.state = settings, parts, stopping, state
        self.timer = timer
        self.reporter: Reporter | None = None
        self._score = Scorer(settings.architecture, settings.seed, settings.shuffles)
        self._halved = False
        self._batches: list[TrainingBatch] = []
        self._passes: Sequence[PlainPass | RecordedPass] = []
        self._recorded = False  # whether passes were recorded, or can't be
        stopping.history = state.history or stopping.history
        stopping.best_round = state.best_epoch
        self._last = Snapshot(parts.network, parts.optimiser)

    def train(self, verbose: bool | None, checkpoint: Writer | None = None) -> None:
        """Run the epochs that are left, until early stopping or until the network diverges."""
        state, epochs, done = self.state, self.settings.epochs, self.state.epochs_done
        begin = self.timer.clock()
        with bar(epochs, "Training", verbose) as advance, noting_compilation(self.timer, advance):
            advance(self.stopping.note, state.epochs_done)
            try:
                while not state.stopped:
                    self._epoch()
                    advance(self.stopping.note)
                    try:
                        if self.reporter is not None and state.epochs_done > done:
                            self._report(self.reporter, begin)
                        done = state.epochs_done
                    finally:  # the epoch is complete, even if a callback fails
                        if checkpoint is not None:
                            checkpoint.write(self)
            finally:
                self._last.restore()  # an interrupted epoch doesn't count

    def _report(self, reporter: Reporter, begin: float) -> None:
        """Call the callbacks after an epoch."""
        state, start = self.state, self.timer.clock()
        ends = {"epochs": "rounds"}.get(state.stopped, state.stopped)
        try:
            if reporter(self.stopping, state.epochs_done, start - begin, ends):
                state.stopped = state.stopped or "callback"
        finally:
            spent = self.timer.clock() - start
            state.seconds["callbacks"] = state.seconds.get("callbacks", 0.0) + spent

    @property
    def epochs_kept(self) -> int:
        """The epoch that the model is of: the best one, or the last if no metric decides."""
        best = self.state.best_epoch
        return self.state.epochs_done if best is None else best

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights of the model; training must have ended."""
        best = self.state.best_weights
        return weights_of(self.parts.network) if best is None else best

    def _epoch(self) -> None:
        """Train one epoch and evaluate it, unless the network diverges."""
        state, clock, compiled = self.state, self.timer.clock, self.timer.seconds
        start = clock()
        scores = self._steps_then_scores()
        trained = clock()
        if scores is None:
            self._diverged()
            return
        last = Snapshot(self.parts.network, self.parts.optimiser)
        stop = self._evaluated(scores, state.epochs_done + 1)
        # An epoch counts once it is evaluated: an interrupt before leaves the one before it.
        self._last = last
        state.epochs_done += 1
        if stop:
            state.stopped = "early stopping"
        elif state.epochs_done == self.settings.epochs:
            state.stopped = "epochs"
        state.seconds["training"] += trained - start
        state.seconds["evaluation"] += clock() - trained
        # Files of older versions have no such time.
        before = state.seconds.get("compiling", 0.0)
        state.seconds["compiling"] = before + self.timer.seconds - compiled

    def _steps_then_scores(self) -> np.ndarray | None:
        """Train an epoch; return validation scores (none without validation data), None if anything isn't finite."""
        torch, parts = need_torch(), self.parts
        try:
            if not self._steps():
                return None
            if parts.valid is None:
                return np.empty(0)
            scores = self._score(parts.network, parts.valid, self.settings.n_jobs)
            return parts.valid.in_callers_order(scores) if np.isfinite(scores).all() else None
        except torch.cuda.OutOfMemoryError:
            pass
        # Out of the handler: the error holds the tensors of the step that failed.
        self._halve()
        return self._steps_then_scores()

    def _steps(self) -> bool:
        """Step through the batches of an epoch; return whether scores and weights stayed finite."""
        torch, settings, parts = need_torch(), self.settings, self.parts
        epoch, on_cpu = self.state.epochs_done, parts.train.inputs.device.type == "cpu"
        parts.network.train()
        self._prepare()
        rng = generator_at(settings.seed, epoch + 1)
        torch.manual_seed(round_state(settings.seed, epoch + 1))
        set_rate(parts.optimiser, settings.learning_rate, settings.schedule, epoch, settings.epochs)
        for i, at in enumerate(rng.permutation(len(self._batches)).tolist()):
            scores = self._passes[at].forward(rng)
            if on_cpu and not scores.isfinite().all():  # a GPU need not wait for the answer
                return False
            gradient = self._batches[at].gradient(scores, epoch * _STEPS + i)
            self._passes[at].backward(gradient)
            if settings.clip is not None:
                torch.nn.utils.clip_grad_norm_(parts.network.parameters(), settings.clip)
            parts.optimiser.step()
        # A score that isn't finite spreads to the weights.
        state = parts.network.state_dict().values()
        return bool(torch.stack([x.isfinite().all() for x in state]).all())

    def _prepare(self) -> None:
        """Make the batches before the first epoch; on a GPU, record their passes after it."""
        network, half = self.parts.network, self.settings.half
        if not self._batches:
            self._batches = make_batches(self)
            self._passes = [PlainPass(network, batch, half) for batch in self._batches]
            self._recorded = (
                self.parts.train.inputs.device.type == "cpu" or self._batches[0].ordered
            )
        elif not self._recorded:
            self._recorded = True
            self._passes = record(network, self._batches, half) or self._passes

    def _evaluated(self, scores: np.ndarray, epoch: int) -> bool:
        """Evaluate the validation scores of an epoch; return whether training should stop."""
        if self.parts.valid is None:
            return False
        stopping, state = self.stopping, self.state
        stop = stopping.after_round(_Scored(scores), epoch)
        state.history = stopping.history
        if stopping.best_round == epoch:
            state.best_weights = weights_of(self.parts.network)
        state.best_epoch = stopping.best_round
        return stop

    def _halve(self) -> None:
        """Go back to the start of the epoch with half the batch, once."""
        torch, documents = need_torch(), self.state.batch_documents
        self._last.restore()
        if self._halved or documents < 4:
            raise checks.InputError(
                f"the GPU has too little memory for batches of {documents} documents; set batch_documents to less, "
                "or device='cpu'."
            )
        self._halved = True
        self.state.batch_documents = documents // 2
        self._batches, self._passes = [], []
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _diverged(self) -> None:
        """End training with the epochs before this one."""
        state = self.state
        self._last.restore()
        what = f"the network diverged in epoch {state.epochs_done + 1}: its scores are not finite"
        help_ = "a smaller learning_rate or clip may help."
        if state.epochs_done == 0:
            raise checks.InputError(f"{what}; {help_}")
        state.stopped = "diverged"
        warnings.warn(
            f"{what}. Training has stopped, and epoch {self.epochs_kept} is kept; {help_}",
            RuntimeWarning,
            stacklevel=2,
        )


def make_batches(run: NeuralRun) -> list[TrainingBatch]:
    """Draw the batches of a run, and bring their lists together on the device."""
    from rankwood.neural.architectures.lists import Lists

    train, settings = run.parts.train, run.settings
    row, device = architecture_of(settings.architecture), train.inputs.device
    rng = generator_at(settings.seed, 0)
    made = []
    documents = run.state.batch_documents
    for lists in training_batches(train.lengths, documents, rng, row.needs_lists):
        own = train.take(lists)
        assert own.labels is not None  # training data has labels
        gradient = BatchGradient(run.parts.objective, own.labels, own.lengths, device)
        fixed = Lists(own.lengths, device)
        made.append(TrainingBatch(own.inputs, fixed, gradient, row.ordered))
    return made


class _Scored(NamedTuple):
    """Stands in for an engine: early stopping needs only the validation scores of one."""

    scores: np.ndarray

    def valid_scores(self) -> np.ndarray:
        return self.scores
