"""Reference models that need no training: the ideal order, and a random order."""

from collections.abc import Sequence
from typing import Any

from rankwood.data.labels import labels_and_groups
from rankwood.data.trec.files import Qrels, Run
from rankwood.data.trec.judgments import to_qrels
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation


def perfect(
    metrics: str | Sequence[str], y: Any, *, qid: Any = None, group: Any = None, **rules: Any
) -> Evaluation:
    """Evaluate documents in the order of their labels, which no model can exceed.

    Parameters
    ----------
    metrics, y, qid, group : str or list of str, and arrays
        As in `rankwood.evaluate`; `y` may be a RankingData or Qrels.
    **rules
        `empty`, `convention` and `n_jobs` of `rankwood.evaluate`.

    Returns
    -------
    Evaluation
        For example, P@k is min(R, k) / min(n, k) if R of n documents are relevant.

    Examples
    --------
    >>> from rankwood.report import perfect
    >>> perfect("dcg@1", [0, 2, 1]).mean()
    {'dcg@1': 3.0}
    """
    y = to_qrels(y)
    return evaluate(metrics, y, _scores(y, qid, group, 1.0), qid=qid, group=group, **rules)


def random(
    metrics: str | Sequence[str], y: Any, *, qid: Any = None, group: Any = None, **rules: Any
) -> Evaluation:
    """Evaluate a random order: the exact mean over all orders of the documents, without sampling.

    Parameters
    ----------
    metrics, y, qid, group, **rules : str or list of str, arrays, and keywords
        As in `perfect`.

    Returns
    -------
    Evaluation
        For example, P@k is R / n for any k if R of n documents are relevant.

    Examples
    --------
    >>> from rankwood.report import random
    >>> random("ndcg@1", [0, 1, 0, 0]).mean()
    {'ndcg@1': 0.25}
    """
    rules["ties"] = "average"
    y = to_qrels(y)
    return evaluate(metrics, y, _scores(y, qid, group, 0.0), qid=qid, group=group, **rules)


def _scores(y: Any, qid: Any, group: Any, factor: float) -> Any:
    """Return labels times a factor as scores; for judgments, as a run of all judged documents."""
    if isinstance(y, Qrels):
        return Run(y.qid, y.doc, y.label * factor)
    labels, _ = labels_and_groups(y, qid, group)
    return labels * factor
