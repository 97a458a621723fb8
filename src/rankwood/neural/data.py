"""Training and validation data as a run holds them: inputs on the device, list by list."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.data.unlisted import UnlistedLabels
from rankwood.neural.library import need_torch
from rankwood.neural.transforms import InputTransform


class ResidentData(NamedTuple):
    """Lists one after the other, in the order of the queries.

    Attributes
    ----------
    inputs : tensor
        Inputs of the network, float32, on the device.
    labels : tensor
        Labels, float64, on the device.
    rows : array
        The caller's row of each of ours.
    ptr, lengths : array
        Where lists begin, and their lengths.
    weight : array or None
        Weights of the lists.
    unlisted : UnlistedLabels or None
        Labels of documents that are not in the lists.
    """

    inputs: Any
    labels: Any
    rows: np.ndarray
    ptr: np.ndarray
    lengths: np.ndarray
    weight: np.ndarray | None
    unlisted: UnlistedLabels | None

    def in_callers_order(self, scores: np.ndarray) -> np.ndarray:
        """Return scores of our rows, float64, in the order of the caller's."""
        out = np.empty(scores.size)
        out[self.rows] = scores
        return out


def resident(data: RankingData, transform: InputTransform, device: Any) -> ResidentData:
    """Return data on a device, transformed."""
    torch, groups = need_torch(), data.groups
    inputs = transform(data.X)[groups.rows]
    return ResidentData(
        torch.from_numpy(inputs).to(device),
        torch.from_numpy(data.y[groups.rows]).to(device),
        groups.rows,
        groups.ptr,
        groups.sizes,
        data.weight,
        data.unlisted,
    )


def lists_of(inputs: Any, groups: Groups) -> ResidentData:
    """Return lists to score, without labels; inputs are in the caller's order."""
    torch = need_torch()
    rows = torch.from_numpy(groups.rows).to(inputs.device)
    return ResidentData(
        inputs.index_select(0, rows), None, groups.rows, groups.ptr, groups.sizes, None, None
    )
