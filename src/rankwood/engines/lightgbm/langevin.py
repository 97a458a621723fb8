"""Langevin boosting (SGLB) [ustimenko2021]: noisy gradients, and a model that shrinks before each round.

The parameters have CatBoost's names, defaults and meaning; docs/langevin.md says where its noise and ours
differ.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._core import checks

NAMES = ("langevin", "diffusion_temperature", "model_shrink_rate", "model_shrink_mode")
#: Modes of shrinkage, and the rate of each if langevin is on and no rate is given.
_MODES = {"Constant": 0.001, "Decreasing": 0.01}
_TEMPERATURE = 1e4
_HOTTEST = 1e-20


@dataclass(frozen=True)
class Langevin:
    """What is asked for. `temperature` is T, an inverse temperature: larger means less noise, None means none."""

    temperature: float | None
    rate: float
    mode: str
    learning_rate: float
    seed: int

    @property
    def sd(self) -> float:
        """Standard deviation of the noise on a document's gradient: sqrt(2 / (learning_rate T))."""
        if self.temperature is None:
            return 0.0
        return float(np.sqrt(2.0 / self.learning_rate / self.temperature))

    def factor(self, round: int) -> float:
        """What the model is multiplied by before a round, counted from 0; there is no model before round 0."""
        if round < 1:
            return 1.0
        return 1.0 - self.rate * (self.learning_rate if self.mode == "Constant" else 1.0 / round)

    def left(self, rounds: int) -> np.ndarray:
        """Return what is left of each tree after so many rounds: the product of the factors after its own."""
        factors = [self.factor(t) for t in range(1, rounds)]
        return np.cumprod([1.0, *reversed(factors)])[::-1]

    def noise(self, round: int, size: int) -> np.ndarray:
        """Return the noise of a round, one number per document, the same on any number of threads."""
        # Philox is a function of a key and a counter: nothing depends on earlier rounds or other draws.
        generator = np.random.Generator(np.random.Philox(key=[self.seed, round]))
        return generator.standard_normal(size, dtype=np.float32) * np.float32(self.sd)


class Shrunken:
    """Scores F of a shrinking model, from sums S of trees that stay as they were grown.

    F(t) = factor(t) F(t-1) + S(t) - S(t-1). The difference costs about 1e-16 of S a round.
    """

    def __init__(self) -> None:
        self.scores: Any = 0.0
        self._sum: Any = 0.0

    def add(self, sum: np.ndarray, factor: float) -> np.ndarray:
        """Return F after a round, from S after it and the round's factor."""
        self.scores = factor * self.scores + (sum - self._sum)
        self._sum = sum.copy()  # LightGBM writes the next sum to the same place
        return self.scores


def split(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of Langevin boosting that were given, and the others."""
    ours = {k: v for k, v in params.items() if k in NAMES and v is not None}
    return ours, {k: v for k, v in params.items() if k not in NAMES}


def asked(ours: dict[str, Any], learning_rate: Any, seed: int | None) -> Langevin | None:
    """Check the parameters of `split`; None if they change nothing.

    As in CatBoost, a temperature alone switches `langevin` on, and a rate shrinks the model without it.
    """
    on = checks.one_of(
        ours.get("langevin", "diffusion_temperature" in ours), (True, False), "langevin"
    )
    temperature = checks.finite(
        ours.get("diffusion_temperature", _TEMPERATURE), "diffusion_temperature"
    )
    if temperature <= 0:
        raise checks.InputError(
            f"diffusion_temperature must be positive, got {temperature:g}; larger means less noise, "
            "and langevin=False means none."
        )
    if temperature < _HOTTEST:
        raise checks.InputError(
            f"diffusion_temperature must be at least {_HOTTEST:g}, got {temperature:g}: there would be "
            "nothing but noise."
        )
    mode = ours.get("model_shrink_mode", "Constant")
    if not isinstance(mode, str) or mode not in _MODES:
        near = checks.nearest(str(mode), _MODES)
        raise checks.InputError(f"unknown model_shrink_mode {mode!r}{near}")
    rate = checks.finite(
        ours.get("model_shrink_rate", _MODES[mode] if on else 0.0), "model_shrink_rate"
    )
    if not 0 <= rate < 1:
        raise checks.InputError(f"model_shrink_rate must be in [0, 1), got {rate:g}.")
    step = checks.positive(learning_rate, "learning_rate")
    if mode == "Constant" and rate * step >= 1:
        raise checks.InputError(
            f"model_shrink_rate times learning_rate must be below 1, got {rate:g} * {step:g}."
        )
    if not on and rate == 0:
        return None
    return Langevin(temperature if on else None, rate, mode, step, seed or 0)


# What is multiplied in the text of a LightGBM model: values of leaves, of inner nodes (for explanations and
# plots), the lines in leaves of linear trees, and the learning rate that a tree was grown with.
_VALUES = re.compile(
    r"^(leaf_value|internal_value|leaf_const|leaf_coeff|shrinkage)=(.*)$", re.MULTILINE
)


def scaled(text: str, left: np.ndarray) -> str:
    """Return the text of a LightGBM model with the i-th tree multiplied by `left[i]`."""
    head, trees, end = re.split(r"^(?=Tree=0$|end of trees$)", text, flags=re.MULTILINE)
    blocks = re.split(r"^(?=Tree=\d+$)", trees, flags=re.MULTILINE)[1:]
    # The last round may have found nothing to split, and left no tree.
    blocks = [_multiplied(block, float(x)) for block, x in zip(blocks, left, strict=False)]
    # LightGBM reads trees in parallel: the head says how many bytes each one has.
    sizes = " ".join(str(len(block.encode())) for block in blocks)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return head + "".join(blocks) + end


def _multiplied(tree: str, factor: float) -> str:
    def line(found: re.Match[str]) -> str:
        # Linear trees part the coefficients of two leaves by two spaces, so spaces stay as they are.
        words = (repr(float(word) * factor) if word else word for word in found[2].split(" "))
        return f"{found[1]}={' '.join(words)}"

    return tree if factor == 1.0 else _VALUES.sub(line, tree)
