"""Langevin boosting on an engine whose trees are LightGBM's text: noisy gradients, and trees that shrink."""

import numpy as np

from rankwood.engines import _errors
from rankwood.engines.base import (
    Gradients,
    Learner,
    LearnerDefaults,
    Model,
    RunState,
    TextModel,
    TrainingTask,
)
from rankwood.engines.lightgbm import langevin
from rankwood.engines.lightgbm.langevin import Langevin, ShrinkingScores


class LangevinLearner(LearnerDefaults):
    """Trees with Langevin noise on the gradients and a model that shrinks before each round.

    The trees of the wrapped run keep the leaves they were grown with. The scores that gradients and validation are
    computed from, and the model at the end, are those of the shrunken trees.
    """

    def __init__(self, params: Langevin, engine: Learner, task: TrainingTask) -> None:
        self._params, self._member = params, task.member
        self._engine = engine
        before = task.before
        self._round = -1 if before is None else before.rounds - 1
        arrays = {} if before is None else before.arrays
        self._train = self._valid = None
        if params.shrink_rate:
            self._train = ShrinkingScores.of(arrays, "train")
            self._valid = ShrinkingScores.of(arrays, "valid") if task.valid is not None else None

    def step(self, gradients: Gradients) -> bool:
        """Shrink the model and grow a tree; return False if no leaf can be split any more."""
        params, last = self._params, self._round
        this = last + 1
        grown: list[ShrinkingScores] = []

        def noisy(tree_sum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            scores = tree_sum
            if self._train is not None:
                grown.append(self._train.after(tree_sum, params.factor(last)))
                scores = params.factor(this) * grown[-1].scores
            grad, hess = gradients(scores)
            return grad + params.noise(
                this, grad.size, self._member
            ) if params.noise_sd else grad, hess

        more = self._engine.step(noisy)
        valid = self._valid
        if valid is not None:
            valid = valid.after(self._engine.valid_scores(), params.factor(this))
        # Nothing is kept before the round is complete: an interrupt must not leave the scores of half a round.
        self._train = grown[-1] if grown else None
        self._valid, self._round = valid, this
        return more

    def state(self, rounds: int) -> RunState | None:
        """Return the first trees, as they were grown, and the scores of the shrunken ones; None if these are later."""
        if self._member is not None and self._train is not None:
            raise _errors.not_resumable(
                "model_shrink_rate on a cluster", "each worker has the scores of its own rows"
            )
        if rounds != self._round + 1:
            return None
        scores = {"train": self._train, "valid": self._valid}
        held = [own.arrays(name) for name, own in scores.items() if own is not None]
        arrays = {name: array for part in held for name, array in part.items()}
        state = self._engine.state(rounds)
        return None if state is None else state._replace(arrays=arrays)

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        return self._engine.valid_scores() if self._valid is None else self._valid.scores

    def model(self, rounds: int) -> Model:
        """Return the ensemble of the first `rounds` trees, with leaves as they were after that round."""
        model = self._engine.model(rounds)
        assert isinstance(model, TextModel)
        weights = self._params.tree_weights(rounds)
        return type(model)(langevin.scale_trees(model.text, weights))  # type: ignore[return-value]
