"""What one process of a cluster knows of the documents that others have."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np

from rankwood._kernels.numeric.rng import uniform_from

#: Computes gradients and Hessians.
Compute = Callable[[], tuple[np.ndarray, np.ndarray]]


class ClusterMember(Protocol):
    """One process of a training run: it has some of the queries, each of them whole, and knows the others."""

    #: Binned data of the engine, from the same rows in every process: its bins are those of all.
    reference: Any
    #: The number of processes.
    processes: int
    #: What an engine has to end, in the thread that trains, before this process leaves the others.
    leaving: ExitStack
    #: The number of all documents.
    documents: int
    #: Where the rows are among all rows: ranges, as an array of shape (n, 2).
    rows: np.ndarray
    #: The number of each query among all queries.
    queries: np.ndarray

    def together(
        self, compute: Compute
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[float, float]]:
        """Return gradients and Hessians of this process, and the largest ones of all; raise if any process failed."""

    def addresses(self, port: int) -> list[str]:
        """Return the IPv4 address and port of each process, as 10.0.0.7:4000, given the port of this one."""


def noise_of(member: ClusterMember | None, seed: int) -> np.ndarray | None:
    """Return this worker's slice of the shuffle noise, identical to a single-machine run; None outside a cluster."""
    if member is None:
        return None
    return np.concatenate([uniform_from(seed, *both) for both in member.rows.tolist()])
