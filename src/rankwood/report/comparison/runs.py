"""Runs of several models, evaluated by the same judgments."""

from collections.abc import Mapping
from typing import Any

from rankwood._util.checks import InputError
from rankwood.data.trec.files import Qrels
from rankwood.data.trec.judgments import to_qrels
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation


def evaluate_runs(
    runs: Any, qrels: Any, metrics: Any, convention: str | None, n_jobs: int | None
) -> Any:
    """Return the evaluation of each run by name; what is evaluated already stays, and so does all without `qrels`."""
    if qrels is None:
        if convention is not None:
            raise InputError(
                "convention= is for runs, which need qrels=; evaluations have their own: omit it."
            )
        return runs
    judged = to_qrels(qrels)
    if not isinstance(judged, Qrels):
        raise InputError(
            f"qrels must be judgments, such as {{query: {{document: label}}}}, got {type(qrels).__name__}."
        )
    wanted = "ndcg@10" if metrics is None else metrics
    return {
        name: run
        if isinstance(run, Evaluation)
        else evaluate(wanted, judged, run, convention=convention, n_jobs=n_jobs)
        for name, run in _named(runs).items()
    }


def _named(runs: Any) -> dict[str, Any]:
    """Return runs by name; those of a list have their own names, or numbers."""
    if isinstance(runs, Mapping):
        return {str(name): run for name, run in runs.items()}
    if not isinstance(runs, (list, tuple)):
        raise InputError(f"runs must be a dictionary by name, got {type(runs).__name__}.")
    names = [getattr(run, "name", None) or getattr(run, "tag", None) for run in runs]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        names = [f"model {i}" for i in range(1, len(runs) + 1)]
    return dict(zip(map(str, names), runs, strict=True))


def models_or_judgments(bounds: Any) -> Any:
    """Return a dictionary of models as it is, and judgments of other programs as `Qrels`."""
    nested = isinstance(bounds, Mapping) and all(isinstance(v, Mapping) for v in bounds.values())
    return to_qrels(bounds) if nested or not isinstance(bounds, Mapping) else bounds
