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
        self._objective, self._seed, self._n_jobs = objective, seed, n_jobs

    def backward(
        self, scores: Any, data: ResidentData, batch: np.ndarray, rows: Any, step: int
    ) -> None:
        """Propagate the gradient back from the scores of the rows of a batch; `step` seeds what is random."""
        torch = need_torch()
        lengths = data.lengths[batch]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        groups = Groups(ptr, np.arange(ptr[-1]), batch)
        y = data.labels.index_select(0, rows).cpu().numpy()
        weight = None if data.weight is None else data.weight[batch]
        unlisted = None if data.unlisted is None else data.unlisted.select(batch)
        computer = GradientComputer(
            self._objective,
            y,
            groups,
            weight,
            real=np.float32,
            n_jobs=self._n_jobs,
            seed=self._seed,
            unlisted=unlisted,
        )
        grad, _ = computer(scores.detach().double().cpu().numpy(), step)
        scores.backward(torch.from_numpy(grad).to(scores.device) / lengths.size)
