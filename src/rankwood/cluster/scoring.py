"""Scores and metrics of Dask collections."""

from typing import Any, Protocol

import numpy as np

from rankwood._util.checks import InputError
from rankwood.cluster.sources import check_blocks
from rankwood.fit.result import FitResult
from rankwood.metrics.evaluate import evaluate as evaluate_here
from rankwood.metrics.evaluation import Evaluation


class Predicts(Protocol):
    """A fitted model, which goes to the workers with the tasks that score partitions."""

    def predict(self, X: Any) -> Any:
        """Return a score per row."""


def lazy_scores(model: Predicts, result: FitResult, X: Any, qid: Any = None) -> Any:
    """Return the scores of a Dask collection, lazily: a Series for a DataFrame, an array for an array."""
    from dask import delayed

    if result.model.needs_groups:
        raise InputError(
            "a model of pairs compares the documents of a query, and partitions are scored one by one: compute the "
            "collection first."
        )
    held = delayed(model)  # once in the graph, not once a partition
    if hasattr(X, "columns"):
        _check_columns(result.schema.names, X)
        drop = [qid] if isinstance(qid, str) else []
        return X.map_partitions(_score_frame, held, drop, meta=("score", np.float64))
    if not hasattr(X, "numblocks"):
        raise InputError(f"X must be a Dask DataFrame or array, got {type(X).__name__}.")
    check_blocks(X)
    return X.map_blocks(_score_block, held, drop_axis=1, dtype=np.float64)


def _check_columns(names: list[str] | None, X: Any) -> None:
    """Raise at once if a feature is missing, not when the scores are computed."""
    known = set(X.columns)
    missing = [name for name in names or () if name not in known]
    if missing:
        raise InputError(
            f"the DataFrame has no column {missing[0]!r}, which the model was trained on."
        )


def _score_frame(frame: Any, model: Predicts, drop: list[str]) -> Any:
    import pandas as pd

    scores = model.predict(frame.drop(columns=drop)) if len(frame) else np.zeros(0)
    return pd.Series(scores, index=frame.index, name="score")


def _score_block(block: Any, model: Predicts) -> np.ndarray:
    return np.asarray(model.predict(block)) if block.shape[0] else np.zeros(0)


def lazy_mean(metric: Any, X: Any, y: Any, scores: Any, qid: Any) -> float:
    """Return the mean of a metric over the queries of a Dask collection."""
    if y is None or qid is None:
        raise InputError("score needs labels and query ids: give y and qid.")
    labels, ids = (X[column] if isinstance(column, str) else column for column in (y, qid))
    (mean,) = evaluate_here(metric, labels, scores, qid=ids).mean().values()
    return mean


def evaluate(
    metrics: Any, y: Any, scores: Any, *, qid: Any, compute: bool = True, **options: Any
) -> Any:
    """Return metrics of Dask collections: labels, scores and query ids come together, features stay where they are.

    `rankwood.evaluate` takes Dask collections too, and brings the three columns here; this function can leave all of
    that to the cluster.

    Parameters
    ----------
    metrics : str, part, or list of them
        As in `rankwood.evaluate`.
    y, scores, qid : Dask Series or arrays
        Labels, scores and query ids, in the same partitions.
    compute : bool
        Whether to compute the values now; otherwise they are computed on a worker, which needs 24 bytes per document.
    **options
        As in `rankwood.evaluate`: conventions, `n_jobs`.

    Returns
    -------
    Evaluation or dask.delayed.Delayed
        A row per query; with ``compute=False``, what becomes it by `compute()`.

    Examples
    --------
    >>> import dask.array as da
    >>> from rankwood.distributed import evaluate
    >>> y, scores, qid = (da.from_array(x) for x in ([1, 0], [0.2, 0.1], [7, 7]))
    >>> evaluate("ndcg@10", y, scores, qid=qid)
    Evaluation(ndcg@10=1.00000; 1 query)
    >>> evaluate("ndcg@10", y, scores, qid=qid, compute=False).compute().mean()
    {'ndcg@10': 1.0}
    """
    if compute:
        return evaluate_here(metrics, y, scores, qid=qid, **options)
    from dask import delayed

    columns = [list(np.ravel(one.to_delayed())) for one in (y, scores, qid)]
    return delayed(_evaluated)(metrics, *columns, options)


def _evaluated(
    metrics: Any, y: list[Any], scores: list[Any], qid: list[Any], options: dict[str, Any]
) -> Evaluation:
    """Evaluate partitions of labels, scores and ids."""
    labels, found, ids = (np.concatenate([np.asarray(x) for x in one]) for one in (y, scores, qid))
    return evaluate_here(metrics, labels, found, qid=ids, **options)
