"""Training and validation data as a run holds them: inputs on the device, list by list."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.data.groups import Groups
from rankwood.data.source import Source
from rankwood.data.unlisted import UnlistedLabels
from rankwood.neural.batches import rows_of
from rankwood.neural.library import need_torch
from rankwood.neural.transforms import InputTransform


class ListLabels(NamedTuple):
    """Labels of lists, weights of lists and documents, and labels of documents that are not listed; on the host."""

    y: np.ndarray
    weight: np.ndarray | None = None
    unlisted: UnlistedLabels | None = None
    sample_weight: np.ndarray | None = None


class ResidentData(NamedTuple):
    """Lists one after the other.

    Attributes
    ----------
    inputs : tensor
        Inputs of the network, float32, on the device.
    rows : array
        The caller's row of each of ours.
    ptr, lengths : array
        Where lists begin, and their lengths.
    labels : ListLabels or None
        Labels of our rows, if they are known.
    """

    inputs: Any
    rows: np.ndarray
    ptr: np.ndarray
    lengths: np.ndarray
    labels: ListLabels | None = None

    def in_callers_order(self, scores: np.ndarray) -> np.ndarray:
        """Return scores of our rows, float64, in the order of the caller's rows."""
        out = np.empty(scores.size)
        out[self.rows] = scores
        return out

    def take(self, lists: np.ndarray) -> "ResidentData":
        """Return some of the lists, in this order."""
        rows = rows_of(lists, self.ptr, self.lengths)
        inputs = self.inputs.index_select(0, need_torch().from_numpy(rows).to(self.inputs.device))
        labels = self.labels
        if labels is not None:
            weight = None if labels.weight is None else labels.weight[lists]
            unlisted = None if labels.unlisted is None else labels.unlisted.select(lists)
            documents = None if labels.sample_weight is None else labels.sample_weight[rows]
            labels = ListLabels(labels.y[rows], weight, unlisted, documents)
        lengths = self.lengths[lists]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return ResidentData(inputs, self.rows[rows], ptr, lengths, labels)


def resident(data: Source, transform: InputTransform, device: Any) -> ResidentData:
    """Return data on a device, transformed, in the order of the queries."""
    groups = data.groups
    inputs = need_torch().from_numpy(transform(data.matrix())[groups.rows]).to(device)
    documents = None if data.sample_weight is None else data.sample_weight[groups.rows]
    labels = ListLabels(data.y[groups.rows], data.weight, data.unlisted, documents)
    return ResidentData(inputs, groups.rows, groups.ptr, groups.sizes, labels)


def lists_of(inputs: Any, groups: Groups) -> ResidentData:
    """Return lists to score, without labels; inputs are in the caller's order."""
    rows = need_torch().from_numpy(groups.rows).to(inputs.device)
    return ResidentData(inputs.index_select(0, rows), groups.rows, groups.ptr, groups.sizes)
