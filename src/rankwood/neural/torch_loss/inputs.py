"""Checks of what a `RankingLoss` is called with."""

from typing import Any

import numpy as np
import torch

from rankwood._util import checks
from rankwood.neural.torch_loss.lists import ListLayout, array


def check_shapes(scores: Any, labels: Any) -> None:
    """Raise unless scores are a tensor of floats, flat or a matrix, and labels have the same shape."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise checks.InputError(f"scores must be a tensor of floats, got {kind}.")
    if scores.device.type not in ("cpu", "cuda"):
        raise checks.InputError(
            "RankingLoss computes on the CPU and on GPUs with CUDA, and scores are on "
            f"{scores.device.type!r}: give scores.cpu()."
        )
    if scores.ndim not in (1, 2):
        raise checks.InputError(
            f"scores must be flat, or have a row for each query, got shape {tuple(scores.shape)}; "
            "scores.squeeze(-1) removes a last dimension of 1."
        )
    shape = tuple(labels.shape) if hasattr(labels, "shape") else array(labels).shape
    if shape != tuple(scores.shape):
        raise checks.InputError(
            f"labels must have the shape of scores, {tuple(scores.shape)}, got {shape}."
        )


def document_labels(labels: Any, found: ListLayout) -> np.ndarray:
    """Return flat labels in float64; those of documents are checked, those of padding are anything."""
    y = checks.numbers(array(labels), "labels").reshape(-1)
    mine = y if found.groups.rows.size == y.size else y[found.groups.rows]
    # One pass over good labels: NaN fails the first comparison, infinity the second.
    if mine.size and not (mine.min() >= 0 and mine.max() < np.inf):
        bad = (y < 0) | ~np.isfinite(y)
        error = _bad_value("labels must be finite and not negative", y, bad, found)
        raise checks.InputError(f"{error}.")
    return y


def check_finite(scores: torch.Tensor, found: ListLayout) -> None:
    """Raise if the score of a document is NaN or infinite."""
    # The sum is finite if all are, unless it overflows: it is quicker than a look at each.
    rows = found.groups.rows
    mine = (
        scores if rows.size == scores.numel() else scores[torch.from_numpy(rows).to(scores.device)]
    )
    if mine.numel() and not torch.isfinite(mine.sum()) and not torch.isfinite(mine).all():
        values = array(scores)
        error = _bad_value("scores must be finite", values, ~np.isfinite(values), found)
        raise checks.InputError(
            f"{error}; a network that diverges may need a smaller learning rate."
        )


def _bad_value(
    what: str, values: np.ndarray, bad: np.ndarray, found: ListLayout
) -> checks.InputError:
    """Return the error about the first value that is bad and belongs to a document."""
    groups = found.groups
    place = int(np.flatnonzero(bad[groups.rows])[0])
    query = int(np.searchsorted(groups.ptr, place, side="right")) - 1
    row = int(groups.rows[place])
    # Ids of queries are numbers or text of NumPy.
    name = groups.ids[query].item() if hasattr(groups.ids[query], "item") else groups.ids[query]
    return checks.InputError(f"{what}, got {values[row]} in query {name!r}, at row {row}")


def query_factors(weight: Any, found: ListLayout) -> np.ndarray | None:
    """Return a factor for each query that has documents."""
    if weight is None:
        return None
    factor = checks.vector(array(weight), "weight")
    if factor.size != found.n_queries:
        raise checks.InputError(
            f"weight has {factor.size} values, but there are {found.n_queries} queries: give one per query."
        )
    if factor.size and factor.min() < 0:
        raise checks.InputError(
            f"weight must not be negative, got {factor.min():g} for query {int(factor.argmin())}."
        )
    return factor if found.given is None else factor[found.given]
