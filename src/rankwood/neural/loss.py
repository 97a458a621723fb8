"""The gradient of an objective at the scores of a batch."""

from typing import Any

import numpy as np

from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
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
            groups = Groups(
                np.concatenate([[0], np.cumsum(lengths)]), np.arange(rows.numel()), batch
            )
            unlisted = data.unlisted.select(batch)
            self._with_unlisted(scores, labels, groups, unlisted, weight, step)
            return
        self._loss(scores, labels, lengths=lengths, weight=weight, round=step).backward()

    def _with_unlisted(
        self,
        scores: Any,
        labels: Any,
        groups: Groups,
        unlisted: UnlistedLabels,
        weight: np.ndarray | None,
        step: int,
    ) -> None:
        """Do the same if ideals count documents that are not in the lists, which `RankingLoss` doesn't know."""
        torch, loss = need_torch(), self._loss
        computer = GradientComputer(
            loss.objective,
            labels.cpu().numpy(),
            groups,
            weight,
            real=np.float32,
            n_jobs=loss.n_jobs,
            seed=loss.seed,
            unlisted=unlisted,
        )
        grad, _ = computer(scores.detach().double().cpu().numpy(), step)
        scores.backward(torch.from_numpy(grad).to(scores.device) / groups.ids.size)
