"""The values of a round under names that say all: stage, fold, validation set and metric."""

from rankwood.fit.context import Round


def place(done: Round) -> str:
    """Return the stage and the fold of a round, "" outside of `TwoStage`."""
    if not done.stage:
        return ""
    return done.stage if done.fold is None else f"{done.stage}, fold {done.fold}"


def flat(done: Round) -> dict[str, float]:
    """Return the metrics of a round by set and metric, as in ``"valid ndcg@10"``."""
    return {
        f"{name} {metric}": value
        for name, values in done.metrics.items()
        for metric, value in values.items()
    }
