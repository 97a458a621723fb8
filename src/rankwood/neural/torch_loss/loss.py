"""`RankingLoss`: an objective as a loss whose backward pass is the objective's own gradient."""

from typing import Any

import torch

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.neural.torch_loss.autograd import with_gradient
from rankwood.neural.torch_loss.devices import LabelledRows, TensorLosses, computer_for, place_of
from rankwood.neural.torch_loss.inputs import (
    check_finite,
    check_shapes,
    document_labels,
    query_factors,
)
from rankwood.neural.torch_loss.lists import ListLayout, layout
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of

REDUCTIONS = ("sum", "mean", "none")


class RankingLoss(torch.nn.Module):
    """An objective as a loss: the backward pass is the gradient that `rankwood.gradients` returns.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition.
    reduction : {"sum", "mean", "none"}
        Sum over queries, as `rankwood.gradients` has it; mean over those queries that have documents; or the loss of
        each query.
    seed : int
        Seed of objectives that draw at random.
    n_jobs : int, optional
        Threads on a CPU; None means every core. The result doesn't depend on it, bit for bit.

    Examples
    --------
    >>> import torch
    >>> from rankwood.torch import RankingLoss
    >>> loss = RankingLoss("ranknet(norm=False)")
    >>> scores = torch.zeros(2, requires_grad=True)
    >>> loss(scores, torch.tensor([1, 0])).backward()
    >>> scores.grad.tolist()
    [-0.5, 0.5]
    """

    def __init__(
        self,
        objective: Any,
        *,
        reduction: str = "sum",
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__()
        self.objective = to_objective(objective)
        if unit_of(self.objective) == "pairs":
            raise checks.InputError(
                f"RankingLoss is for scores of documents, and {objective!r} has gradients of pairs: omit bi-."
            )
        self.reduction = checks.one_of(reduction, REDUCTIONS, "reduction")
        self.seed = checks.at_least(seed, 0, "seed")
        threads.threads(n_jobs)
        self.n_jobs = n_jobs
        self.round = 0
        self._computers: dict[Any, Any] = {}

    @torch.compiler.disable
    def forward(
        self,
        scores: torch.Tensor,
        labels: Any,
        qid: Any = None,
        *,
        lengths: Any = None,
        mask: Any = None,
        weight: Any = None,
        round: int | None = None,
    ) -> torch.Tensor:
        """Return the loss of a batch of queries.

        Parameters
        ----------
        scores : tensor
            Scores of documents: flat, or a row for each query, padded.
        labels : tensor or array
            Labels, of the same shape.
        qid : tensor, array or list, optional
            The query of each document, for flat scores; rows of a query need not be adjacent. With neither `qid` nor
            `lengths` flat scores are one query.
        lengths : tensor, array or list, optional
            The number of documents of each query: one after the other in flat scores, or at the beginning of each
            row.
        mask : boolean tensor or array, optional
            For padded scores: True for documents, False for padding.
        weight : tensor, array or list, optional
            Factor on the loss of each query; with `qid`, queries are in order of first appearance.
        round : int, optional
            Objectives that draw at random draw anew in each round. By default the number of earlier calls in training
            mode.

        Returns
        -------
        tensor
            A number, or one for each query if `reduction` is "none".
        """
        counts = round is None and self.training
        round = self.round if round is None else checks.at_least(round, 0, "round")
        check_shapes(scores, labels)
        # Half precision has too few digits for differences of scores.
        work = scores if scores.dtype in (torch.float32, torch.float64) else scores.float()
        found = layout(tuple(scores.shape), qid, lengths, mask)
        factor = query_factors(weight, found)
        flat = work.detach().contiguous().view(-1)
        batch = LabelledRows(document_labels(labels, found), found.groups)
        check_finite(flat, found)
        losses, grad = self._compute(flat, batch, round)
        self.round += counts  # a call that fails takes no round
        query = None
        if factor is not None or self.reduction == "none":
            query = torch.from_numpy(found.query_of_row(flat.numel())).to(flat.device)
        if factor is not None:
            by_query = torch.from_numpy(factor).to(flat.device)
            losses, grad = losses * by_query, grad * by_query.to(grad.dtype)[query]
        return self._reduced(work, found, TensorLosses(losses, grad.view(work.shape)), query)

    def _compute(self, scores: torch.Tensor, batch: LabelledRows, round: int) -> TensorLosses:
        if batch.groups.rows.size == 0:
            return TensorLosses(scores.new_zeros(0), torch.zeros_like(scores))
        place = place_of(scores)
        if place not in self._computers:
            self._computers[place] = computer_for(place, self.objective, self.n_jobs)
        return self._computers[place](scores, batch, self.seed, round)

    def _reduced(
        self, scores: Any, found: ListLayout, at: TensorLosses, query: Any
    ) -> torch.Tensor:
        if self.reduction == "none" and at.losses.numel() == 0:
            # No query has documents, so there is none that a gradient could belong to.
            return found.spread(with_gradient(scores, scores.new_zeros(()), at.grad)[None][:0])
        if self.reduction == "none":
            # Empty queries have no documents, so their losses are added after the gradient is attached.
            each = with_gradient(
                scores, at.losses.to(scores.dtype), at.grad, query.view(scores.shape)
            )
            return found.spread(each)
        # NumPy's sum doesn't depend on the number of threads.
        cpu = not at.losses.is_cuda
        total = torch.as_tensor(at.losses.numpy().sum()) if cpu else at.losses.sum()
        summed = with_gradient(scores, total.to(scores.dtype), at.grad)
        return summed / max(at.losses.numel(), 1) if self.reduction == "mean" else summed

    def get_extra_state(self) -> torch.Tensor:
        """Return the round, for `state_dict`.

        Returns
        -------
        tensor
            The number of calls in training mode.
        """
        return torch.tensor(self.round)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Go on from a round, for `load_state_dict`.

        Parameters
        ----------
        state : tensor
            What `get_extra_state` returned.
        """
        self.round = checks.at_least(int(state), 0, "the round of a saved RankingLoss")

    def __getstate__(self) -> dict[str, Any]:
        # Memory of kernels is not copied: a copy allocates its own.
        return {**self.__dict__, "_computers": {}}

    def extra_repr(self) -> str:
        """Return what `print` shows of the module.

        Returns
        -------
        str
        """
        return f"{self.objective!r}, reduction={self.reduction!r}, seed={self.seed}"
