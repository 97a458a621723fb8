"""Langevin boosting (SGLB) [ustimenko2021]: noisy gradients, and a model that shrinks before each round.

The parameters have CatBoost's names, defaults and meaning; docs/langevin.md explains where its noise and ours
differ. XGBoost's adapter reads the names too, so this module must not import LightGBM.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel
from rankwood._kernels.numeric.rng import fill_normal, mix, round_state
from rankwood._util import checks
from rankwood.engines.sharing import ClusterMember

NAMES = ("langevin", "diffusion_temperature", "model_shrink_rate", "model_shrink_mode")
#: Modes of shrinkage, and the default rate of each if langevin is on.
_MODES = {"Constant": 0.001, "Decreasing": 0.01}
_TEMPERATURE = 1e4
_HOTTEST = 1e-20
_NOISE = 0x5EED  # keeps the noise apart from what objectives draw in the same round


@dataclass(frozen=True)
class Langevin:
    """Parameters of Langevin boosting.

    `temperature` is T, CatBoost's `diffusion_temperature`: larger means less noise, and None means no noise.
    """

    temperature: float | None
    shrink_rate: float
    mode: str
    learning_rate: float
    seed: int

    @property
    def noise_sd(self) -> float:
        """Standard deviation of the noise on a document's gradient: sqrt(2 / (learning_rate T))."""
        if self.temperature is None:
            return 0.0
        return float(np.sqrt(2.0 / self.learning_rate / self.temperature))

    def factor(self, round_index: int) -> float:
        """Return the factor on the model before a round; rounds count from 0, before which there is no model."""
        if round_index < 1:
            return 1.0
        step = self.learning_rate if self.mode == "Constant" else 1.0 / round_index
        return 1.0 - self.shrink_rate * step

    def tree_weights(self, rounds: int) -> np.ndarray:
        """Return the weight of each tree in the model of `rounds` rounds: the product of all factors after its own."""
        factors = [self.factor(i) for i in range(1, rounds)]
        return np.cumprod([1.0, *reversed(factors)])[::-1]

    def noise(self, round_index: int, size: int, member: ClusterMember | None = None) -> np.ndarray:
        """Return the noise of a round, one number per document; it doesn't depend on the number of threads."""
        state = mix(round_state(self.seed, round_index), _NOISE)
        ranges = [(0, size)] if member is None else member.rows.tolist()
        noise = [np.zeros(end - first, np.float32) for first, end in ranges]
        for (first, _), out in zip(ranges, noise, strict=True):
            callable_kernel(fill_normal)(state, first, out)
        return np.concatenate(noise) * np.float32(self.noise_sd)


class ShrinkingScores:
    """Scores F of a model that shrinks, from sums S of trees that keep the leaves they were grown with.

    F(t) = factor(t) F(t-1) + S(t) - S(t-1). The difference has a rounding error of about 1e-16 S per round.
    """

    def __init__(self) -> None:
        self.scores: Any = 0.0
        self._tree_sum: Any = 0.0

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray], name: str) -> "ShrinkingScores":
        """Return the scores that `arrays` wrote, those of no tree if there are none."""
        made = cls()
        made.scores = arrays.get(f"{name}_scores", 0.0)
        made._tree_sum = arrays.get(f"{name}_tree_sum", 0.0)
        return made

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return F and S by name; nothing before the first round."""
        if not isinstance(self.scores, np.ndarray):
            return {}
        return {f"{name}_scores": self.scores, f"{name}_tree_sum": self._tree_sum}

    def after(self, tree_sum: np.ndarray, factor: float) -> "ShrinkingScores":
        """Return the scores after a round, from S after the round and the round's factor."""
        made = ShrinkingScores()
        made.scores = factor * self.scores + (tree_sum - self._tree_sum)
        made._tree_sum = tree_sum.copy()  # LightGBM overwrites it with the next sum
        return made


def separate_params(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of Langevin boosting that aren't None, and all other parameters."""
    ours = {name: value for name, value in params.items() if name in NAMES and value is not None}
    return ours, {name: value for name, value in params.items() if name not in NAMES}


def parse(ours: dict[str, Any], learning_rate: Any, seed: int | None) -> Langevin | None:
    """Check the parameters of Langevin boosting; return None if they change nothing.

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


# Values in the text of a LightGBM model that are multiplied: those of leaves, those of inner nodes (explanations and
# plots show them), the linear functions in leaves of linear trees, and the learning rate that a tree was grown with.
# Booster.set_leaf_output would change the first of these only.
_VALUES = re.compile(
    r"^(leaf_value|internal_value|leaf_const|leaf_coeff|shrinkage)=(.*)$", re.MULTILINE
)


def scale_trees(text: str, weights: np.ndarray) -> str:
    """Return the text of a LightGBM model with each tree multiplied by its weight."""
    head, trees, end = re.split(r"^(?=Tree=0$|end of trees$)", text, flags=re.MULTILINE)
    blocks = re.split(r"^(?=Tree=\d+$)", trees, flags=re.MULTILINE)[1:]
    # There is one weight too many if the last round had no leaf to split, and so no tree.
    blocks = [_scale(block, float(w)) for block, w in zip(blocks, weights, strict=False)]
    # LightGBM reads trees in parallel: the head lists the size of each in bytes.
    sizes = " ".join(str(len(block.encode())) for block in blocks)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return head + "".join(blocks) + end


def undropped(text: str) -> str:
    """Return the text of a model of DART with all trees as they were before the round that an error ended.

    LightGBM drops a tree by changing its sign, before it asks for gradients.
    """
    rates = re.findall(r"^shrinkage=(\S+)$", text, flags=re.MULTILINE)
    weights = np.where([float(rate) < 0 for rate in rates], -1.0, 1.0)
    return text if (weights > 0).all() else scale_trees(text, weights)


def _scale(tree: str, weight: float) -> str:
    """Return the text of one tree with its values multiplied by a weight."""

    def scaled_line(found: re.Match[str]) -> str:
        # Linear trees separate the coefficients of two leaves by two spaces, which must be kept.
        words = (repr(float(word) * weight) if word else word for word in found[2].split(" "))
        return f"{found[1]}={' '.join(words)}"

    return tree if weight == 1.0 else _VALUES.sub(scaled_line, tree)
