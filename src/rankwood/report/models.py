"""Models that need no training: the best there can be, and pure chance."""

from typing import Any

import numpy as np

from rankwood.data.lists import grouped
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation


def perfect(
    metrics: Any, y: Any, *, qid: Any = None, group: Any = None, **rules: Any
) -> Evaluation:
    """Evaluate the order by label: what no model can exceed.

    Parameters
    ----------
    metrics, y, qid, group
        As in `rankwood.evaluate`; `y` may be a RankingData.
    **rules
        `empty`, `convention` and `n_jobs` of `rankwood.evaluate`.

    Returns
    -------
    Evaluation
        Of P@k, for one, min(R, k) / min(n, k), with R relevant documents of n.

    Examples
    --------
    >>> from rankwood.report.models import perfect
    >>> perfect("ndcg@2", [0, 2, 1]).mean()
    {'ndcg@2': 1.0}
    """
    labels, _ = grouped(y, qid, group)
    return evaluate(metrics, y, labels, qid=qid, group=group, **rules)


def random(metrics: Any, y: Any, *, qid: Any = None, group: Any = None, **rules: Any) -> Evaluation:
    """Evaluate a random order: the mean over all orders of the documents, computed and not drawn.

    Parameters
    ----------
    metrics, y, qid, group
        As in `rankwood.evaluate`; `y` may be a RankingData.
    **rules
        `empty`, `convention` and `n_jobs` of `rankwood.evaluate`.

    Returns
    -------
    Evaluation
        Of P@k, for one, R / n whatever k is, with R relevant documents of n.

    Examples
    --------
    >>> from rankwood.report.models import random
    >>> random("ndcg@1", [0, 1, 0, 0]).mean()
    {'ndcg@1': 0.25}
    """
    labels, _ = grouped(y, qid, group)
    rules["ties"] = "average"
    return evaluate(metrics, y, np.zeros(labels.size), qid=qid, group=group, **rules)
