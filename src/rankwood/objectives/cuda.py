"""Gradients on a GPU: the device's sibling of `GradientComputer`."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.compile import explaining
from rankwood._core.device import as_vector, empty_like, load_cuda, on_host, stream_of
from rankwood._core.rng import round_state
from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.objectives.units import unit_of


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
    ) -> None:
        if unit_of(objective) == "pairs":
            raise checks.InputError(
                f"{objective!r} has gradients of pairs, which no kernel for a GPU computes: use the CPU."
            )
        self._cuda = load_cuda()
        self.objective, self.groups, self.seed = objective, groups, seed
        self._labels = (np.asarray(on_host(y), np.float64), groups, weight, unlisted)
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
        built = self._for(found.dtype)
        state = round_state(self.seed, round)
        vectors = (found, as_vector(grad, "out", found.size), as_vector(hess, "out", found.size))
        for one, kernel in built:
            kernel.start(one.teams, stream, state, vectors)
        return grad, hess

    def _for(self, dtype: Any) -> list[tuple[Any, Any]]:
        """Return launches and kernels for scores of this precision: scores of float64 are ranked by 64 bits."""
        if dtype not in self._built:
            from rankwood.objectives._kernels.cuda.tasks import build

            built = build(
                self.objective,
                *self._labels,
                wide_words=dtype == np.float64,
                to_device=self._cuda.to_device,
            )
            dtypes = (dtype, np.float32, np.float32)
            with explaining(self.objective):
                self._built[dtype] = [
                    (one, self._cuda.Kernel(built.kernel, (one.task, built.plan), dtypes))
                    for one in built.launches
                ]
        return self._built[dtype]
