"""The network of a cell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwood.estimators.neural_ranker import NeuralRanker


def make_network(spec: Mapping[str, Any], n_jobs: int | None) -> "NeuralRanker":
    """Return the network of a cell, not fitted; its parameters may have fewer epochs than the cell allows."""
    from rankwood.estimators.neural_ranker import NeuralRanker

    params = dict(spec["params"])
    patience = params.pop("early_stopping_rounds", spec["patience"])
    return NeuralRanker(
        objective=spec["objective"],
        epochs=min(params.pop("epochs", spec["rounds"]), spec["rounds"]),
        eval_metric=spec["stop"] or "ndcg@10",
        early_stopping_rounds=None if spec["stop"] is None else patience or spec["rounds"],
        random_state=spec["seed"],
        n_jobs=n_jobs,
        verbose=False,
        **params,
    )
