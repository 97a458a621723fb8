"""`RankingLoss`: an objective as a loss whose backward pass is the objective's own gradient."""

from typing import Any

import numpy as np
import torch

from rankwood._core import checks, threads
from rankwood.objectives.batches import BatchComputer
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of
from rankwood.torch.lists import Layout, array, layout

REDUCTIONS = ("sum", "mean", "none")


class _Precomputed(torch.autograd.Function):
    """Losses of queries whose gradient is known already: the backward pass multiplies it by that of the losses."""

    @staticmethod
    def forward(scores: Any, losses: Any, grad: Any, query: Any) -> Any:
        return losses

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        scores, _, grad, query = inputs
        ctx.save_for_backward(scores, grad, query)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        scores, grad, query = ctx.saved_tensors
        return _FirstDerivative.apply(scores, grad, grad_output, query), None, None, None


class _FirstDerivative(torch.autograd.Function):
    """The gradient times that of the losses; it has no derivative."""

    @staticmethod
    def forward(scores: Any, grad: Any, grad_output: Any, query: Any) -> Any:
        factor = grad_output if query is None else grad_output[query]
        return grad * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grad_output: Any) -> Any:
        raise NotImplementedError(
            "RankingLoss has first derivatives only: its gradient can't be differentiated again; leave out "
            "create_graph=True."
        )


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
        Where objectives that draw at random start.
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
                f"RankingLoss is for scores of documents, and {objective!r} has gradients of pairs: leave out bi-."
            )
        self.reduction = checks.one_of(reduction, REDUCTIONS, "reduction")
        self.seed = checks.at_least(seed, 0, "seed")
        threads.threads(n_jobs)
        self.n_jobs = n_jobs
        self.round = 0
        self._computers: dict[Any, BatchComputer] = {}

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
            Where objectives that draw at random start, besides the seed. By default the number of calls in training
            mode before this one.

        Returns
        -------
        tensor
            A number, or one for each query if `reduction` is "none".
        """
        if round is None:
            round = self.round
            self.round += self.training
        _check_scores(scores, labels)
        work = scores if scores.dtype in (torch.float32, torch.float64) else scores.float()
        found = layout(tuple(scores.shape), qid, lengths, mask)
        factor = _weights(weight, found)
        losses, grad = self._compute(work.detach(), array(labels), found, round)
        if factor is not None:
            losses *= factor
            grad *= found.groups.per_row(factor.astype(grad.dtype))
        return self._reduced(work, found, losses, grad)

    def _compute(
        self, scores: torch.Tensor, labels: np.ndarray, found: Layout, round: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the queries that have documents, and the gradient by all scores, flat."""
        flat = scores.contiguous().numpy().reshape(-1)
        rows, y = found.groups.rows, labels.reshape(-1).astype(np.float64)
        if rows.size == 0:
            return np.zeros(0), np.zeros(flat.size, flat.dtype)
        _check_values(flat, y, found)
        computer = self._computer(flat.dtype.type)
        return computer(computer.batch(y, found.groups), flat, self.seed, round)

    def _computer(self, real: type) -> BatchComputer:
        if real not in self._computers:
            self._computers[real] = BatchComputer(self.objective, real, self.n_jobs)
        return self._computers[real]

    def _reduced(
        self, work: torch.Tensor, found: Layout, losses: np.ndarray, grad: np.ndarray
    ) -> torch.Tensor:
        gradient = torch.from_numpy(grad).view(work.shape)
        if self.reduction == "none":
            query = np.zeros(grad.size, np.int64)
            given = np.arange(losses.size) if found.given is None else found.given
            query[found.groups.rows] = np.repeat(given, found.groups.sizes)
            each = torch.from_numpy(found.spread(losses)).to(work.dtype)
            return _Precomputed.apply(
                work, each, gradient, torch.from_numpy(query).view(work.shape)
            )
        total = torch.tensor(losses.sum(), dtype=work.dtype)
        summed = _Precomputed.apply(work, total, gradient, None)
        return summed / max(losses.size, 1) if self.reduction == "mean" else summed

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
        self.round = int(state)

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


def _check_scores(scores: Any, labels: Any) -> None:
    """Raise unless scores are a tensor of floats, flat or a matrix, and labels have the same shape."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise checks.InputError(f"scores must be a tensor of floats, got {kind}.")
    if scores.ndim not in (1, 2):
        raise checks.InputError(
            f"scores must be flat, or have a row for each query, got shape {tuple(scores.shape)}; "
            "scores.squeeze(-1) removes a last dimension of 1."
        )
    shape = tuple(np.shape(labels))
    if shape != tuple(scores.shape):
        raise checks.InputError(
            f"labels must have the shape of scores, {tuple(scores.shape)}, got {shape}."
        )
    if scores.device.type != "cpu":
        raise checks.InputError(
            f"RankingLoss computes on the CPU, and scores are on {scores.device}: give scores.cpu()."
        )


def _check_values(scores: np.ndarray, y: np.ndarray, found: Layout) -> None:
    """Raise unless scores and labels of documents are numbers that can be used; padding may be anything."""
    groups = found.groups
    rows = groups.rows if groups.rows.size < scores.size else slice(None)
    for name, values in (("scores", scores[rows]), ("labels", y[rows])):
        bad = ~np.isfinite(values)
        if name == "labels":
            bad |= values < 0
        if bad.any():
            row = (
                groups.rows[np.flatnonzero(bad)[0]]
                if isinstance(rows, np.ndarray)
                else int(np.flatnonzero(bad)[0])
            )
            query = (
                int(
                    np.searchsorted(groups.ptr, np.flatnonzero(groups.rows == row)[0], side="right")
                )
                - 1
            )
            expected = "finite" if name == "scores" else "finite and not negative"
            raise checks.InputError(
                f"{name} must be {expected}, got {scores[row] if name == 'scores' else y[row]} in query "
                f"{groups.ids[query]!r}, at row {row}."
            )


def _weights(weight: Any, found: Layout) -> np.ndarray | None:
    """Return a factor for each query that has documents."""
    if weight is None:
        return None
    factor = checks.vector(array(weight), "weight")
    if factor.size != found.n_queries:
        raise checks.InputError(
            f"weight has {factor.size} values, but there are {found.n_queries} queries."
        )
    if factor.size and factor.min() < 0:
        raise checks.InputError(
            f"weight must not be negative, got {factor.min():g} for query {int(factor.argmin())}."
        )
    return factor if found.given is None else factor[found.given]
