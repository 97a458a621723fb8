"""A network as a learner: a round is an epoch, a step through all batches."""

import json
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import generator_at, round_state
from rankwood._kernels.parts import check_labels
from rankwood._util import checks, interrupts
from rankwood.data.source import Source
from rankwood.engines.base import (
    Diverged,
    Gradients,
    LearnerDefaults,
    RunState,
    TrainingTask,
    refuse_categories,
)
from rankwood.neural.architectures.table import REVISION, architecture_of, build
from rankwood.neural.batches import training_batches
from rankwood.neural.data import ResidentData, resident
from rankwood.neural.library import find_device, need_torch, own_seed, torch_threads
from rankwood.neural.loss import BatchGradient, Objective
from rankwood.neural.optimisation import make_optimiser, set_rate
from rankwood.neural.parameters import NetworkParams, fitted_params, learning_rate
from rankwood.neural.passes import PlainPass, RecordedPass, TrainingBatch, record
from rankwood.neural.scoring import FittedNetwork, NetworkScorer, weights_of
from rankwood.neural.state import Snapshot, load_arrays, network_arrays
from rankwood.neural.tensors import nested, prefixed
from rankwood.neural.transforms import InputTransform, check_steps

_STEPS = 1 << 20  # rounds reserved for each epoch, so that no two steps share their random draws
_ADVICE = "a smaller learning_rate or clip may help."


class NetworkParts(NamedTuple):
    """What is trained, and on what."""

    network: Any
    optimiser: Any
    objective: Objective
    transform: InputTransform
    train: ResidentData
    valid: ResidentData | None


class NetworkLearner(LearnerDefaults):
    """One training run of a network.

    Parameters
    ----------
    params : NetworkParams
        Parameters of `NeuralRanker`.
    task : TrainingTask
        The data and the objective.
    """

    step_name = "training"

    def __init__(self, params: NetworkParams, task: TrainingTask) -> None:
        self._params, self._device = params, find_device(params.device)
        _check_data(task.objective, task.train)
        self._documents = params.batch_documents
        self._epochs = 0 if task.before is None else task.before.rounds
        self._best: dict[str, np.ndarray] | None = None
        self._best_epoch: int | None = None
        self.parts = self._parts(task)
        if task.before is not None:
            self._restore(task.before)
        self._score = NetworkScorer(params.architecture, params.random_state, params.shuffles)
        self._halved = False
        self._batches: list[TrainingBatch] = []
        self._passes: Sequence[PlainPass | RecordedPass] = []
        self._recorded = False  # whether passes were recorded, or can't be
        self._scores = np.empty(0)
        # The network before the epoch that is being trained: an interrupted epoch doesn't count.
        self._before = Snapshot(self.parts.network, self.parts.optimiser)
        self._before_epoch, self._inside = self._epochs, False

    def _parts(self, task: TrainingTask) -> NetworkParts:
        """Return network, optimiser and data, on the device."""
        params, device = self._params, self._device
        sets = [task.train] if task.valid is None else [task.train, task.valid]
        start = perf_counter()
        transform = InputTransform.fit(task.train.matrix(), check_steps(params.transform))
        inside = _on_device(sets, transform, device)
        self._transforming = perf_counter() - start
        with own_seed(device) as torch:
            torch.manual_seed(round_state(params.random_state, 0))
            # Weights are drawn on the CPU, the same for every device.
            network = build(params.architecture, transform.inputs, vars(params)).to(device)
            rate = learning_rate(params)
            optimiser = make_optimiser(
                params.optimizer, network.parameters(), rate, params.weight_decay
            )
        loss = Objective(task.objective, params.random_state, params.n_jobs)
        valid = inside[1] if task.valid is not None else None
        return NetworkParts(network, optimiser, loss, transform, inside[0], valid)

    @property
    def setup_seconds(self) -> dict[str, float]:
        """The time of the input transform."""
        return {"transform": self._transforming, "training": 0.0}

    def step(self, gradients: Gradients) -> bool:
        """Train an epoch; the gradients of its batches are computed here."""
        self._before = Snapshot(self.parts.network, self.parts.optimiser)
        self._before_epoch, self._inside = self._epochs, True
        with own_seed(self._device), torch_threads(self._params.torch_threads):
            scores = self._steps_then_scores()
        if scores is None:
            self._before.restore()
            self._inside = False
            raise Diverged(
                f"the network diverged in epoch {self._epochs + 1}: its scores are not finite",
                _ADVICE,
            )
        self._scores = scores
        self._epochs += 1
        self._inside = False
        return True

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last epoch."""
        return self._scores

    def remember(self, rounds: int) -> None:
        """Keep the weights of the best epoch so far: the last one, or one that an earlier run has kept."""
        if rounds != self._best_epoch:
            self._best, self._best_epoch = weights_of(self.parts.network), rounds

    def model(self, rounds: int) -> FittedNetwork:
        """Return the network of the best epoch, of the last one, or of the one before it."""
        return FittedNetwork(
            fitted_params(self._params), self.parts.transform, self._weights(rounds)
        )

    def _weights(self, rounds: int) -> dict[str, np.ndarray]:
        if rounds == self._best_epoch and self._best is not None:
            return self._best
        if rounds == self._epochs and not self._inside:
            return weights_of(self.parts.network)
        # An interrupt came within an epoch, or between an epoch and its evaluation.
        assert rounds == self._before_epoch, (rounds, self._before_epoch)
        return self._before.weights()

    def state(self, rounds: int) -> RunState | None:
        """Return weights, the state of the optimiser, and the best weights."""
        if rounds == self._epochs and not self._inside:
            weights, steps = network_arrays(self.parts.network, self.parts.optimiser)
        elif rounds == self._before_epoch:  # an interrupt came within an epoch
            weights, steps = self._before.weights(), self._before.optimiser_arrays()
        else:
            return None
        arrays = {**prefixed(weights, "network."), **prefixed(steps, "steps.")}
        if self._best is not None:
            arrays |= prefixed(self._best, "best.")
        held = {"batch_documents": self._documents, "best_epoch": self._best_epoch}
        text = json.dumps({**held, "revision": REVISION})
        return RunState(rounds, text, arrays)

    def _restore(self, before: RunState) -> None:
        """Set network and optimiser as they were after the epochs of an earlier run."""
        try:
            held = json.loads(before.text)
            if held.get("revision", 1) != REVISION:
                raise checks.InputError(
                    "the checkpoint is of a network as earlier versions built it, which can't be trained further: give "
                    "another file to start over."
                )
            self._documents = checks.at_least(held["batch_documents"], 2, "batch_documents")
            self._best_epoch = held["best_epoch"]
            self._best = nested(before.arrays, "best.") or None
            network, steps = nested(before.arrays, "network."), nested(before.arrays, "steps.")
            load_arrays(self.parts.network, self.parts.optimiser, network, steps)
        except checks.InputError:
            raise
        except (RuntimeError, KeyError, TypeError, ValueError):
            raise checks.InputError(
                "the checkpoint is damaged: its weights are not those of the network."
            ) from None

    def _steps_then_scores(self) -> np.ndarray | None:
        """Train an epoch; return validation scores (none without validation data), None if anything isn't finite."""
        torch, parts = need_torch(), self.parts
        try:
            if not self._steps():
                return None
            if parts.valid is None:
                return np.empty(0)
            scores = self._score(parts.network, parts.valid, self._params.n_jobs)
            return parts.valid.in_callers_order(scores) if np.isfinite(scores).all() else None
        except torch.cuda.OutOfMemoryError:
            pass
        # Out of the handler: the error holds the tensors of the step that failed.
        self._halve()
        return self._steps_then_scores()

    def _steps(self) -> bool:
        """Step through the batches of an epoch; return whether scores and weights stayed finite."""
        torch, params, parts = need_torch(), self._params, self.parts
        epoch, on_cpu = self._epochs, parts.train.inputs.device.type == "cpu"
        parts.network.train()
        self._prepare()
        rng = generator_at(params.random_state, epoch + 1)
        torch.manual_seed(round_state(params.random_state, epoch + 1))
        set_rate(parts.optimiser, learning_rate(params), params.schedule, epoch, params.epochs)
        for i, at in enumerate(rng.permutation(len(self._batches)).tolist()):
            interrupts.deliver()  # an epoch may take long, and one that isn't complete doesn't count
            scores = self._passes[at].forward(rng)
            if on_cpu and not scores.isfinite().all():  # a GPU need not wait for the answer
                return False
            gradient = self._batches[at].gradient(scores, epoch * _STEPS + i)
            self._passes[at].backward(gradient)
            if params.clip is not None:
                torch.nn.utils.clip_grad_norm_(parts.network.parameters(), params.clip)
            parts.optimiser.step()
        # A score that isn't finite spreads to the weights.
        state = parts.network.state_dict().values()
        return bool(torch.stack([x.isfinite().all() for x in state]).all())

    def _prepare(self) -> None:
        """Make the batches before the first epoch; on a GPU, record their passes after it."""
        network, half = self.parts.network, self._computes_in_half()
        if not self._batches:
            self._batches = self._make_batches()
            self._passes = [PlainPass(network, batch, half) for batch in self._batches]
            on_cpu = self.parts.train.inputs.device.type == "cpu"
            self._recorded = on_cpu or self._batches[0].ordered
        elif not self._recorded:
            self._recorded = True
            self._passes = record(network, self._batches, half) or self._passes

    def _computes_in_half(self) -> bool:
        """Return whether layers compute in bfloat16."""
        precision = self._params.precision
        return precision == "bfloat16" or (precision == "auto" and self._device.type == "cuda")

    def _make_batches(self) -> list[TrainingBatch]:
        """Draw the batches of a run, and bring their lists together on the device."""
        from rankwood.neural.architectures.lists import Lists

        train = self.parts.train
        row, device = architecture_of(self._params.architecture), train.inputs.device
        rng = generator_at(self._params.random_state, 0)
        batches = []
        for lists in training_batches(train.lengths, self._documents, rng, row.needs_lists):
            part = train.take(lists)
            assert part.labels is not None  # training data has labels
            gradient = BatchGradient(self.parts.objective, part.labels, part.lengths, device)
            fixed = Lists(part.lengths, device)
            batches.append(TrainingBatch(part.inputs, fixed, gradient, row.ordered))
        return batches

    def _halve(self) -> None:
        """Return to the start of the epoch with half the batch, once."""
        torch, documents = need_torch(), self._documents
        self._before.restore()
        if self._halved or documents < 4:
            raise checks.InputError(
                f"the GPU has too little memory for batches of {documents} documents; set batch_documents to less, "
                "or device='cpu'."
            )
        self._halved = True
        self._documents = documents // 2
        self._batches, self._passes = [], []
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def start(params: Mapping[str, Any], task: TrainingTask) -> NetworkLearner:
    """Begin a training run."""
    return NetworkLearner(NetworkParams(**params), task)


def _on_device(sets: list[Source], transform: InputTransform, device: Any) -> list[ResidentData]:
    """Return the data on the device, or raise if it has too little memory."""
    try:
        # A caller's inference mode would make data that can't be trained on.
        with need_torch().inference_mode(False):
            return [resident(data, transform, device) for data in sets]
    except need_torch().cuda.OutOfMemoryError:
        rows = sum(map(len, sets))
        raise checks.InputError(
            f"the GPU has too little memory for the data, {rows} rows of {transform.inputs} inputs; give fewer, or "
            "set device='cpu'."
        ) from None


def _check_data(objective: Any, train: Source) -> None:
    """Raise unless labels suit the objective, and there are features, and two documents for batch normalisation."""
    check_labels(objective, train.y)
    refuse_categories(train, "networks")
    if train.n_features == 0:
        raise checks.InputError("a network needs at least one feature, and X has no columns.")
    if len(train) < 2:
        raise checks.InputError("a network needs at least two documents to train on, got 1.")
