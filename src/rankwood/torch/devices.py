"""Where losses and gradients are computed: by the CPU's kernels, or by a GPU's on scores that are there."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import torch

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.objectives.batches import BatchComputer
from rankwood.objectives.valued import valued


class Batch(NamedTuple):
    """Labels of all rows in float64, and rows by query; rows of padding belong to no query."""

    y: np.ndarray
    groups: Groups

    def equals(self, other: "Batch") -> bool:
        """Tell whether two batches have the same labels and queries."""
        mine = (self.y, self.groups.ptr, self.groups.rows)
        others = (other.y, other.groups.ptr, other.groups.rows)
        return all(np.array_equal(a, b) for a, b in zip(mine, others, strict=True))


class Found(NamedTuple):
    """The loss of each query, and the gradient of their sum by each score, where the scores are."""

    losses: torch.Tensor
    grad: torch.Tensor


def place_of(scores: torch.Tensor) -> tuple[str, torch.dtype]:
    """Return device and precision: what a computer of this module is for."""
    return scores.device.type, scores.dtype


def computer_for(place: tuple[str, torch.dtype], objective: Any, n_jobs: int | None) -> Any:
    """Return what computes `Found` from flat scores, a `Batch`, seed and round."""
    device, dtype = place
    if device == "cpu":
        return _OnCpu(objective, np.float64 if dtype == torch.float64 else np.float32, n_jobs)
    return _OnGpu(objective)


class _OnCpu:
    """The kernels of the CPU, which see the memory of the tensors."""

    def __init__(self, objective: Any, real: type, n_jobs: int | None) -> None:
        self._compute = BatchComputer(objective, real, n_jobs)

    def __call__(self, scores: torch.Tensor, batch: Batch, seed: int, round: int) -> Found:
        found = self._compute(self._compute.batch(*batch), scores.numpy(), seed, round)
        return Found(torch.from_numpy(found.loss), torch.from_numpy(found.grad))


class _OnGpu:
    """The kernels of the GPU; labels of the batch before, if they come again, are there already."""

    def __init__(self, objective: Any) -> None:
        try:
            kernels = import_module("rankwood.objectives.cuda")
        except ModuleNotFoundError:
            raise checks.InputError(
                "scores are on a GPU, and this version of Rankwood has no kernels for it: give scores.cpu()."
            ) from None
        self._make = kernels.DeviceGradients
        self._objective, self._share = valued(objective)
        self._last: Any = None

    def __call__(self, scores: torch.Tensor, batch: Batch, seed: int, round: int) -> Found:
        groups, device = batch.groups, scores.device
        padded = groups.rows.size < scores.numel()
        key = (seed, device)
        if self._last is None or self._last[0] != key or not self._last[1].equals(batch):
            # The kernels know no padding, so documents are brought together.
            close = groups._replace(rows=np.arange(groups.rows.size)) if padded else groups
            y = batch.y[groups.rows] if padded else batch.y
            compute = self._make(self._objective, y, close, seed=seed)
            rows = torch.from_numpy(groups.rows).to(device)
            self._last = key, batch, compute, rows, torch.from_numpy(groups.sizes).to(device)
        _, _, compute, rows, sizes = self._last
        grad, shares = compute(scores[rows] if padded else scores, round)
        if padded:
            grad, shares = (
                scores.new_zeros(scores.shape).index_put((rows,), x.to(scores.dtype))
                for x in (grad, shares)
            )
        shares = grad * scores if self._share is None else self._share * shares
        losses = torch.segment_reduce(shares[rows], "sum", lengths=sizes)
        return Found(losses, grad.to(scores.dtype))
