"""Weights of documents, for losses that are sums over documents: each term is multiplied by the weight of its document.

A weight that all documents of a query share is a factor on the whole loss, and needs nothing of this. Weights that
differ within a query mean something only if the loss has a term of each document. Such an objective has a method
`weigh_documents`, which turns its derivatives into those of the weighted loss, after the kernel has run: without
weights of documents there is nothing to pay.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.objectives.units import has_pair_set, reads_pairs, unit_of


class Terms(NamedTuple):
    """Gradients and Hessians of the documents of all queries, by row."""

    gradient: np.ndarray
    hessian: np.ndarray


class DocumentWeights(NamedTuple):
    """Weights of documents, and their labels as the objective reads them, by row."""

    weight: np.ndarray
    label: np.ndarray
    groups: Groups

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of values by row over the query of each row, by row."""
        groups = self.groups
        return groups.per_row(np.add.reduceat(values[groups.rows], groups.ptr[:-1]))


def check_document_weights(objective: Any, sample_weight: Any) -> None:
    """Raise if documents of a query have different weights, and the objective isn't a sum over documents."""
    if sample_weight is None or _can(objective):
        return
    of_pairs = has_pair_set(objective) or reads_pairs(objective) or unit_of(objective) == "pairs"
    what = "pairs" if of_pairs else "whole lists"
    raise checks.InputError(
        f"sample_weight differs within a query, and this objective is a sum over {what}, not over documents: give "
        "one weight per query (weight=), or use 'softmax', 'listnet', 'queryrmse' or 'rmse'."
    )


def _can(objective: Any) -> bool:
    return unit_of(objective) == "documents" and hasattr(objective, "weigh_documents")


def weighted_cross_entropy(terms: Terms, target: np.ndarray, documents: DocumentWeights) -> Terms:
    r"""Return the derivatives of :math:`-\sum_i w_i t_i \log p_i`, given those for weights of 1.

    With :math:`T = \sum_i t_i` and :math:`T_w = \sum_i w_i t_i`, the gradient is :math:`T_w p_i - w_i t_i` in place of
    :math:`T p_i - t_i`, and the Hessian is :math:`T_w / T` times as large.
    """
    weighted = documents.weight * target
    total = documents.total(target)
    share = np.divide(documents.total(weighted), total, out=np.zeros_like(total), where=total > 0)
    return Terms(share * (terms.gradient + target) - weighted, share * terms.hessian)
