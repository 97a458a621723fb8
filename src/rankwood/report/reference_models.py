"""Models that need no training: the best there can be, and pure chance."""

from typing import Any

from rankwood.data.labels import labels_and_groups
from rankwood.data.trec import Qrels, Run
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation


def perfect(
    metrics: Any, y: Any, *, qid: Any = None, group: Any = None, **rules: Any
) -> Evaluation:
    """Evaluate the order by label: what no model can exceed.

    Parameters
    ----------
    metrics, y, qid, group
        As in `rankwood.evaluate`; `y` may be a RankingData or Qrels.
    **rules
        `empty`, `convention` and `n_jobs` of `rankwood.evaluate`.

    Returns
    -------
    Evaluation
        Of P@k, for one, min(R, k) / min(n, k), with R relevant documents of n.

    Examples
    --------
    >>> from rankwood.report.reference_models import perfect
    >>> perfect("dcg@1", [0, 2, 1]).mean()
    {'dcg@1': 3.0}
    """
    return evaluate(metrics, y, _scores(y, qid, group, 1.0), qid=qid, group=group, **rules)


def random(metrics: Any, y: Any, *, qid: Any = None, group: Any = None, **rules: Any) -> Evaluation:
    """Evaluate a random order: the mean over all orders of the documents, computed and not drawn.

    Parameters
    ----------
    metrics, y, qid, group
        As in `rankwood.evaluate`; `y` may be a RankingData or Qrels.
    **rules
        `empty`, `convention` and `n_jobs` of `rankwood.evaluate`.

    Returns
    -------
    Evaluation
        Of P@k, for one, R / n whatever k is, with R relevant documents of n.

    Examples
    --------
    >>> from rankwood.report.reference_models import random
    >>> random("ndcg@1", [0, 1, 0, 0]).mean()
    {'ndcg@1': 0.25}
    """
    rules["ties"] = "average"
    return evaluate(metrics, y, _scores(y, qid, group, 0.0), qid=qid, group=group, **rules)


def _scores(y: Any, qid: Any, group: Any, times: float) -> Any:
    """Return labels times a number as scores; of judgments, as a run of all judged documents."""
    if isinstance(y, Qrels):
        return Run(y.qid, y.doc, y.label * times)
    labels, _ = labels_and_groups(y, qid, group)
    return labels * times
