"""Losses and gradients where the scores are: by the kernels of the CPU or of a GPU."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import torch

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.objectives.batches import BatchComputer
from rankwood.objectives.valued import valued


class LabelledRows(NamedTuple):
    """Labels of all rows in float64, and rows by query; rows of padding belong to no query."""

    y: np.ndarray
    groups: Groups

    def equals(self, other: "LabelledRows") -> bool:
        """Tell whether labels and queries are the same."""
        mine = (self.y, self.groups.ptr, self.groups.rows)
        others = (other.y, other.groups.ptr, other.groups.rows)
        return all(np.array_equal(a, b) for a, b in zip(mine, others, strict=True))


class TensorLosses(NamedTuple):
    """The loss of each query, and the gradient of their sum with respect to the scores, on the scores' device."""

    losses: torch.Tensor
    grad: torch.Tensor


def place_of(scores: torch.Tensor) -> tuple[str, torch.dtype]:
    """Return the kind of device and the precision of scores; `computer_for` takes them."""
    return scores.device.type, scores.dtype


def computer_for(place: tuple[str, torch.dtype], objective: Any, n_jobs: int | None) -> Any:
    """Return a function of flat scores, `LabelledRows`, seed and round that returns `TensorLosses`."""
    device, dtype = place
    if device == "cpu":
        return _OnCpu(objective, np.float64 if dtype == torch.float64 else np.float32, n_jobs)
    return _OnGpu(objective)


class _OnCpu:
    """The kernels of the CPU, which read the memory of the tensors."""

    def __init__(self, objective: Any, real: type, n_jobs: int | None) -> None:
        self._compute = BatchComputer(objective, real, n_jobs)

    def __call__(
        self, scores: torch.Tensor, batch: LabelledRows, seed: int, round: int
    ) -> TensorLosses:
        found = self._compute(self._compute.batch(*batch), scores.numpy(), seed, round)
        return TensorLosses(torch.from_numpy(found.loss), torch.from_numpy(found.grad))


class _Prepared(NamedTuple):
    """What the GPU keeps of a batch: its kernels with the labels, the rows of documents, and the sizes of queries."""

    seed: int
    device: torch.device
    batch: LabelledRows
    compute: Any
    rows: torch.Tensor
    sizes: torch.Tensor

    def suits(self, batch: LabelledRows, seed: int, device: torch.device) -> bool:
        """Tell whether it can be used for this batch again."""
        return (self.seed, self.device) == (seed, device) and self.batch.equals(batch)


class _OnGpu:
    """The kernels of the GPU; labels that come again in the next call aren't copied again."""

    def __init__(self, objective: Any) -> None:
        try:
            kernels = import_module("rankwood.objectives.cuda")
        except ModuleNotFoundError:
            raise checks.InputError(
                "scores are on a GPU, and this version of Rankwood has no kernels for it: give scores.cpu()."
            ) from None
        self._make = kernels.DeviceGradients
        self._objective, self._share = valued(objective)
        self._last: _Prepared | None = None

    def __call__(
        self, scores: torch.Tensor, batch: LabelledRows, seed: int, round: int
    ) -> TensorLosses:
        if self._last is None or not self._last.suits(batch, seed, scores.device):
            self._last = self._prepare(batch, seed, scores.device)
        rows, padded = self._last.rows, batch.groups.rows.size < scores.numel()
        grad, shares = self._last.compute(scores[rows] if padded else scores, round)
        if padded:
            grad, shares = (
                scores.new_zeros(scores.shape).index_put((rows,), x.to(scores.dtype))
                for x in (grad, shares)
            )
        shares = grad * scores if self._share is None else self._share * shares
        losses = torch.segment_reduce(shares[rows], "sum", lengths=self._last.sizes)
        return TensorLosses(losses, grad.to(scores.dtype))

    def _prepare(self, batch: LabelledRows, seed: int, device: torch.device) -> _Prepared:
        y, groups = batch
        rows, sizes = (torch.from_numpy(x).to(device) for x in (groups.rows, groups.sizes))
        if groups.rows.size < y.size:  # the kernels know no padding, so it is omitted
            y, groups = y[groups.rows], groups._replace(rows=np.arange(groups.rows.size))
        compute = self._make(self._objective, y, groups, seed=seed)
        return _Prepared(seed, device, batch, compute, rows, sizes)
