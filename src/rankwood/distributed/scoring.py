"""Scores and metrics of Dask collections."""

from typing import Any

import numpy as np

from rankwood._core.checks import InputError
from rankwood.distributed.sources import check_blocks
from rankwood.metrics.evaluate import evaluate as evaluate_here
from rankwood.metrics.evaluation import Evaluation


def predict(ranker: Any, X: Any, qid: Any = None) -> Any:
    """Return the scores of a Dask collection, lazily: a Series for a DataFrame, an array for an array."""
    if ranker.model_.needs_groups:
        raise InputError(
            "a model of pairs compares the documents of a query, and partitions are scored one by one: compute the "
            "collection first."
        )
    if hasattr(X, "columns"):
        drop = [qid] if isinstance(qid, str) else []
        return X.map_partitions(_score_frame, ranker, drop, meta=("score", np.float64))
    check_blocks(X)
    return X.map_blocks(_score_block, ranker, drop_axis=1, dtype=np.float64)


def _score_frame(frame: Any, ranker: Any, drop: list[str]) -> Any:
    import pandas as pd

    scores = ranker.predict(frame.drop(columns=drop)) if len(frame) else np.zeros(0)
    return pd.Series(scores, index=frame.index, name="score")


def _score_block(block: Any, ranker: Any) -> np.ndarray:
    return np.asarray(ranker.predict(block)) if block.shape[0] else np.zeros(0)


def evaluate(metrics: Any, y: Any, scores: Any, *, qid: Any, **options: Any) -> Evaluation:
    """Return metrics of Dask collections: labels, scores and query ids are computed, features are not.

    Parameters
    ----------
    metrics : str, part, or list of them
        As in `rankwood.evaluate`.
    y, scores, qid : Dask Series or arrays
        Labels, scores and query ids, in the same partitions.
    **options
        As in `rankwood.evaluate`: conventions, `n_jobs`.

    Returns
    -------
    Evaluation
        A row per query.

    Examples
    --------
    >>> import dask.array as da
    >>> from rankwood.distributed import evaluate
    >>> y, scores, qid = (da.from_array(x) for x in ([1, 0], [0.2, 0.1], [7, 7]))
    >>> evaluate("ndcg@10", y, scores, qid=qid)
    Evaluation(ndcg@10=1.00000; 1 query)
    """
    import dask

    y, scores, qid = (np.asarray(one) for one in dask.compute(y, scores, qid))
    return evaluate_here(metrics, y, scores, qid=qid, **options)
