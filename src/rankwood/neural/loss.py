"""The gradient of an objective at the scores of a batch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.warning import warn
from rankwood.data.groups import Groups
from rankwood.neural.data import ListLabels
from rankwood.neural.library import need_torch
from rankwood.objectives.cuda import DeviceGradients
from rankwood.objectives.gradients import GradientComputer

#: From the scores of a batch and a step to the gradient, on the device of the scores.
Gradient = Callable[[Any, int], Any]


class Objective(NamedTuple):
    """An objective, the seed of what it draws at random, and the threads that compute it on a CPU."""

    part: Any
    seed: int
    n_jobs: int | None


class BatchGradient:
    """The gradient of the mean of an objective over the lists of one batch, which comes again in each epoch.

    All that is made of labels alone is kept between the epochs. On a GPU, our CUDA kernels read the scores there; if
    numba-cuda is missing, scores are copied to the CPU and gradients back.
    """

    def __init__(
        self, objective: Objective, labels: ListLabels, lengths: np.ndarray, device: Any
    ) -> None:
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        groups = Groups(ptr, np.arange(ptr[-1]), np.arange(lengths.size))
        self._lists = lengths.size
        on_device = None if device.type == "cpu" else _on_device(objective, labels, groups)
        self._gradient = on_device or _on_host(objective, labels, groups)

    def __call__(self, scores: Any, step: int) -> Any:
        """Return the gradient at scores, both float32; `step` seeds what is random."""
        return self._gradient(scores.contiguous(), step).div_(self._lists)


def _on_host(objective: Objective, labels: ListLabels, groups: Groups) -> Gradient:
    """Return a function that computes gradients on the CPU."""
    compute = GradientComputer(
        objective.part,
        labels.y,
        groups,
        labels.weight,
        dtype=np.float32,
        n_jobs=objective.n_jobs,
        seed=objective.seed,
        unlisted=labels.unlisted,
        sample_weight=labels.sample_weight,
    )

    def gradient(scores: Any, step: int) -> Any:
        found, _ = compute(scores.double().cpu().numpy(), step)
        return need_torch().from_numpy(found).to(scores.device)

    return gradient


def _on_device(objective: Objective, labels: ListLabels, groups: Groups) -> Gradient | None:
    """Return a function that computes gradients on the GPU; warn and return None if numba-cuda can't use it."""
    if labels.sample_weight is not None:
        return None
    try:
        compute = DeviceGradients(
            objective.part,
            labels.y,
            groups,
            labels.weight,
            seed=objective.seed,
            unlisted=labels.unlisted,
        )
    except checks.InputError as error:
        warn(
            f"scores are copied to the CPU and gradients back, which is slow: {error}",
            RuntimeWarning,
        )
        return None
    return lambda scores, step: compute(scores, step)[0]
