"""Gradients on a GPU: what `GradientComputer` is on the CPU. numba-cuda is imported when the first of them is made."""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import explaining
from rankwood._kernels.device import as_vector, empty_like, load_cuda, on_host, stream_of
from rankwood._kernels.numeric.rng import round_state
from rankwood._util import checks
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups
from rankwood.data.labels import beside_labels, labels_and_groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of


def device_gradients(
    objective: Any, y: Any, *, qid: Any = None, group: Any = None, seed: int = 0
) -> "DeviceGradients":
    """Return a function that computes gradients of scores on a GPU, for training loops.

    `rankwood.gradients` does the same once. Here, labels and memory stay on the device between calls.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"``, or a composition.
    y : array or RankingData
        Labels, or a data set with labels and queries.
    qid, group : array, optional
        The query id of each row, in any order, or the sizes of consecutive queries. Without either, all rows belong
        to one query.
    seed : int
        Seed of objectives that draw at random: the draws are those of the CPU.

    Returns
    -------
    DeviceGradients
        Call it with scores on the GPU and the number of the round; it returns gradients and Hessians.

    Raises
    ------
    InputError
        If the objective is on pairs of documents, the arrays do not match, or there is no GPU or no numba-cuda.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from rankwood.objectives import device_gradients
    >>> compute = device_gradients("lambdarank-ndcg@10", [2, 0, 1], seed=0)  # doctest: +SKIP
    >>> grad, hess = compute(torch.zeros(3, device="cuda"), 0)  # doctest: +SKIP
    """
    held = beside_labels(y)
    labels, groups = labels_and_groups(on_host(y), on_host(qid), on_host(group))
    seed = checks.at_least(seed, 0, "seed")
    return DeviceGradients(to_objective(objective), labels, groups, seed=seed, **held)


class DeviceGradients:
    """One objective over one set of labelled queries, on a GPU: labels, plan and memory stay there between rounds.

    Parameters
    ----------
    objective : part
        A composition such as `Lambda(...)`, or a part that can `list_gradient`.
    y : array
        Labels, in the caller's order; those on a GPU are copied to the host, once.
    groups : Groups
        Rows by query.
    weight : array of float64, optional
        Factor on the gradients and Hessians of each query.
    seed : int
        Seed of objectives that draw at random: the draws are those of the CPU.
    unlisted : UnlistedLabels, optional
        Labels of documents that belong to the queries and are not listed; ideals of metrics count them.
    pairs : GivenPairs, optional
        Pairs of rows that come with the data, for objectives that are sums over them.
    """

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        weight: np.ndarray | None = None,
        *,
        seed: int = 0,
        unlisted: UnlistedLabels | None = None,
        pairs: GivenPairs | None = None,
    ) -> None:
        if unit_of(objective) == "pairs":
            raise checks.InputError(
                f"{objective!r} has gradients of pairs, which no kernel for a GPU computes: use the CPU."
            )
        self._cuda = load_cuda()
        self.objective, self.groups, self.seed = objective, groups, seed
        self._labels = (np.asarray(on_host(y), np.float64), groups, weight, unlisted, pairs)
        self._built: dict[Any, list[tuple[Any, Any]]] = {}

    def __call__(
        self, scores: Any, round: int = 0, *, stream: int | None = None, out: Any = None
    ) -> tuple[Any, Any]:
        """Return gradients and Hessians at these scores, in the caller's order.

        Parameters
        ----------
        scores : array on the GPU
            Of CuPy, PyTorch, or with `__cuda_array_interface__` or DLPack; float32 or float64.
        round : int
            Number of the round, for objectives that draw at random.
        stream : int, optional
            Address of the CUDA stream to work on; by default the current one of the library of `scores`.
        out : tuple of two arrays on the GPU, optional
            Where to write gradients and Hessians, float32.

        Returns
        -------
        grad, hess : arrays of float32
            Of the same library and on the same device as `scores`.
        """
        found = as_vector(scores, "scores", self.groups.rows.size)
        grad, hess = out or (empty_like(scores, found.size), empty_like(scores, found.size))
        stream = stream_of(scores) if stream is None else stream
        state = round_state(self.seed, round)
        vectors = (found, as_vector(grad, "out", found.size), as_vector(hess, "out", found.size))
        for launch, kernel in self._kernels(found.dtype):
            kernel.start(launch.teams, stream, state, vectors)
        return grad, hess

    def _kernels(self, dtype: Any) -> list[tuple[Any, Any]]:
        """Return launches and kernels for scores of this precision: scores of float64 are ranked by 64 bits."""
        if dtype not in self._built:
            from rankwood.objectives._kernels.cuda.tasks import build_launches

            built = build_launches(
                self.objective,
                *self._labels,
                wide_words=dtype == np.float64,
                to_device=self._cuda.to_device,
            )
            dtypes = (dtype, np.float32, np.float32)
            with explaining(self.objective):
                self._built[dtype] = [
                    (launch, self._cuda.Kernel(built.kernel, (launch.task, built.plan), dtypes))
                    for launch in built.launches
                ]
        return self._built[dtype]
