"""From a ranker and its data to a run that can be trained."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.compiling import CompileTimer
from rankwood._core.parts import check_labels
from rankwood._core.rng import round_state
from rankwood.data.ranking_data import RankingData
from rankwood.engines.base import refuse_categories
from rankwood.neural.architectures.table import architecture_of, build
from rankwood.neural.checkpoint import EpochFile
from rankwood.neural.data import ResidentData, resident
from rankwood.neural.library import find_device, need_torch, own_seed, torch_threads
from rankwood.neural.loss import Objective
from rankwood.neural.optimisation import make_optimiser
from rankwood.neural.parameters import learning_rate
from rankwood.neural.run import NetworkParts, NeuralRun, RunSettings
from rankwood.neural.scoring import FittedNetwork, weights_of
from rankwood.neural.state import RunState
from rankwood.neural.transforms import InputTransform, check_steps
from rankwood.training.context import FitContext, Reporter, check_round_is_last
from rankwood.training.inputs import ValidationSets
from rankwood.training.keeping import FitOutcome
from rankwood.training.monitoring import EarlyStopping


class NetworkFit(NamedTuple):
    """A run, and how to train it and to make a model of it."""

    state: RunState
    run: NeuralRun
    train: Callable[[], None]
    #: Returns the model with these weights.
    model: Callable[[dict[str, np.ndarray]], FittedNetwork]
    objective: Any
    data: RankingData

    def keep(self, ranker: Any, epoch: int, weights: Any) -> None:
        """Set the fitted attributes of a ranker: the model with these weights, which are those of an epoch."""
        state, model = self.state, self.model(weights)
        kept = FitOutcome(model, epoch, self.run.stopping, state.seconds, self.objective, self.data)
        kept.keep(ranker)
        ranker.stopped_ = state.stopped or "interrupted"
        ranker.record_ = {}

    def report_to(self, ranker: Any, context: FitContext) -> None:
        """Let the run call the callbacks of a context."""
        if not context.callbacks:
            return

        def so_far(number: int) -> Any:
            check_round_is_last(number, self.state.epochs_done)
            other = clone(ranker)
            self.keep(other, number, weights_of(self.run.parts.network))
            return other

        params = {**ranker.get_params(deep=False), "learning_rate": learning_rate(ranker)}
        self.run.reporter = Reporter(context, params, ranker.epochs, so_far)


def fit_network(
    ranker: Any,
    objective: Any,
    train: RankingData,
    valid: ValidationSets | None,
    context: FitContext,
    timer: CompileTimer,
) -> NetworkFit:
    """Return a run that hasn't begun, or that goes on from its checkpoint."""
    device = find_device(ranker.device)
    _check_data(objective, train)
    stopping = EarlyStopping(
        ranker.eval_metric, ranker.early_stopping_rounds, valid, ranker.n_jobs, context.evaluators
    )
    sets = [train] if valid is None else [train, valid.joined]
    given = context.checkpoint
    checkpoint = None if given is None else EpochFile(given.path, ranker, sets)
    before = None if checkpoint is None else checkpoint.read()
    start = perf_counter()
    transform = InputTransform.fit(train.X, check_steps(ranker.transform))
    inside = _on_device(sets, transform, device)
    made = perf_counter()
    with own_seed(device) as torch:
        torch.manual_seed(round_state(ranker.random_state, 0))
        # Weights are drawn on the CPU, the same for every device.
        network = build(ranker.architecture, transform.inputs, ranker.get_params()).to(device)
        optimiser = make_optimiser(
            ranker.optimizer, network.parameters(), learning_rate(ranker), ranker.weight_decay
        )
        state = RunState(ranker.batch_documents)
        if checkpoint is not None and before is not None:
            state = checkpoint.state(before)
            checkpoint.load(before, network, optimiser)
    state.seconds["transform"] += made - start
    loss = Objective(objective, ranker.random_state, ranker.n_jobs)
    parts = NetworkParts(network, optimiser, loss, inside[0], inside[1] if valid else None)
    run = NeuralRun(_settings(ranker, device), parts, stopping, state, timer)

    def go() -> None:
        with own_seed(device), torch_threads(ranker.torch_threads):
            run.train(ranker.verbose, checkpoint)

    params = _fitted_params(ranker)
    return NetworkFit(
        state,
        run,
        go,
        lambda weights: FittedNetwork(params, transform, weights),
        objective,
        train,
    )


def _on_device(
    sets: list[RankingData], transform: InputTransform, device: Any
) -> list[ResidentData]:
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


def _check_data(objective: Any, train: RankingData) -> None:
    """Raise unless labels suit the objective, and there are features, and two documents for batch normalisation."""
    check_labels(objective, train.y)
    refuse_categories(train, "networks")
    if train.n_features == 0:
        raise checks.InputError("a network needs at least one feature, and X has no columns.")
    if len(train) < 2:
        raise checks.InputError("a network needs at least two documents to train on, got 1.")


def _settings(ranker: Any, device: Any) -> RunSettings:
    """Return how the network is trained."""
    half = ranker.precision == "bfloat16"
    return RunSettings(
        architecture=ranker.architecture,
        epochs=ranker.epochs,
        learning_rate=learning_rate(ranker),
        schedule=ranker.schedule,
        clip=ranker.clip,
        half=half or (ranker.precision == "auto" and device.type == "cuda"),
        shuffles=ranker.shuffles,
        seed=ranker.random_state,
        n_jobs=ranker.n_jobs,
    )


def _fitted_params(ranker: Any) -> dict[str, Any]:
    """Return the parameters that predictions depend on."""
    own = architecture_of(ranker.architecture).params
    names = ("architecture", "transform", "random_state", "shuffles", *own)
    return {name: getattr(ranker, name) for name in names}
