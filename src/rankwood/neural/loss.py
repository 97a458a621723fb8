"""The gradient of an objective at the scores of a batch."""

from typing import Any

import numpy as np

from rankwood.data.groups import Groups
from rankwood.neural.data import ResidentData
from rankwood.neural.library import need_torch
from rankwood.objectives.gradients import GradientComputer


class ListLoss:
    """An objective on batches of lists: `backward` adds the gradient of the mean over the lists to the network."""

    def __init__(self, objective: Any, seed: int, n_jobs: int | None) -> None:
        from rankwood.torch import RankingLoss

        self._loss = RankingLoss(objective, reduction="mean", seed=seed, n_jobs=n_jobs)

    def backward(
        self, scores: Any, data: ResidentData, batch: np.ndarray, rows: Any, step: int
    ) -> None:
        """Propagate the gradient back from the scores of the rows of a batch; `step` seeds what is random."""
        lengths, labels = data.lengths[batch], data.labels.index_select(0, rows)
        weight = None if data.weight is None else data.weight[batch]
        if data.unlisted is not None:
            self._with_unlisted(scores, data, batch, labels, step)
            return
        self._loss(scores, labels, lengths=lengths, weight=weight, round=step).backward()

    def _with_unlisted(
        self, scores: Any, data: ResidentData, batch: np.ndarray, labels: Any, step: int
    ) -> None:
        """Do the same if ideals count documents that are not in the lists, which a loss in PyTorch doesn't know."""
        torch, loss, lengths = need_torch(), self._loss, data.lengths[batch]
        assert data.unlisted is not None
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        computer = GradientComputer(
            loss.objective,
            labels.cpu().numpy(),
            Groups(ptr, np.arange(ptr[-1]), batch),
            None if data.weight is None else data.weight[batch],
            real=np.float32,
            n_jobs=loss.n_jobs,
            seed=loss.seed,
            unlisted=data.unlisted.select(batch),
        )
        grad, _ = computer(scores.detach().double().cpu().numpy(), step)
        scores.backward(torch.from_numpy(grad).to(scores.device) / lengths.size)
