"""Messages between the workers of one training run, by XGBoost's own collective."""

import contextlib
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from xgboost import collective
from xgboost.core import XGBoostError
from xgboost.tracker import RabitTracker

from rankwood._util.checks import InputError
from rankwood.cluster.messages import PeerFailed
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.engines.exact_sums import largest_of
from rankwood.engines.sharing import Compute
from rankwood.metrics.evaluate import Evaluator
from rankwood.metrics.evaluation import Evaluation

#: Seconds after which a silent worker counts as lost; Dask itself notices sooner that a worker is gone.
_SILENT = 600
#: Seconds in which all workers must have joined.
_JOINING = 300
#: What LightGBM says if a message to another worker fails, or if its port is taken.
_OF_LIGHTGBM = re.compile(r"Socket (?:recv|send) error|Binding port")


def start_tracker(workers: int, host: str) -> tuple[Any, dict[str, Any]]:
    """Return what brings workers together, to be kept while they train, and the arguments that they need."""
    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task", timeout=_JOINING)
    tracker.start()
    return tracker, {**tracker.worker_args(), "dmlc_timeout": _SILENT, "dmlc_retry": 2}


class Joined(NamedTuple):
    """One worker among the others."""

    #: The host that all workers can reach.
    tracker: str
    #: What an engine has to end before this worker leaves.
    leaving: ExitStack


@contextlib.contextmanager
def joined(arguments: dict[str, Any], number: int) -> Iterator[Joined]:
    """Join the other workers; raise `PeerFailed` if one of them is lost."""
    try:
        collective.init(**arguments, dmlc_task_id=f"{number:06d}")
        try:
            with ExitStack() as leaving:
                yield Joined(str(arguments["dmlc_tracker_uri"]), leaving)
        except BaseException:
            with contextlib.suppress(XGBoostError):
                _leave()
            raise
        _leave()
    except Exception as error:
        if _is_of_others(error):
            raise PeerFailed("another worker failed or was lost.") from None
        raise


def _leave() -> None:
    with warnings.catch_warnings():  # it warns if others are gone
        warnings.simplefilter("ignore")
        collective.finalize()


def _is_of_others(error: BaseException | None) -> bool:
    """Return whether an error began with a message that didn't arrive."""
    while error is not None:
        if isinstance(error, PeerFailed):
            return True
        if isinstance(error, XGBoostError) and "collective/" in str(error):
            return True
        if type(error).__name__ == "LightGBMError" and _OF_LIGHTGBM.match(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


class WorkerMember:
    """One worker among the others, see `rankwood.engines.sharing.ClusterMember`."""

    def __init__(
        self, me: Joined, reference: Any, documents: int, rows: np.ndarray, queries: np.ndarray
    ) -> None:
        self.reference, self.documents = reference, documents
        self.rows, self.queries = rows, queries
        self.processes, self.leaving = collective.get_world_size(), me.leaving
        self._tracker = me.tracker

    def together(
        self, compute: Compute
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[float, float]]:
        """Return gradients and Hessians of this worker, and the largest ones of all; raise if any worker failed."""
        failed: Exception | None = None
        own = np.array([0.0, 0.0, 1.0])
        try:
            grad, hess = compute()
            own = np.array([largest_of(grad), largest_of(hess), 0.0])
        except Exception as error:
            failed = error
        # All workers meet here in each round, before any of them is inside a message of the engine.
        largest_grad, largest_hess, failures = collective.allreduce(own, collective.Op.MAX)
        if failed is not None:
            raise failed
        if failures:
            raise PeerFailed("another worker failed.")
        return (grad, hess), (float(largest_grad), float(largest_hess))

    def addresses(self, port: int) -> list[str]:
        """Return the IPv4 address and port of each worker, as 10.0.0.7:4000, given the port of this one."""
        numbers = np.zeros((self.processes, 5), np.int64)
        numbers[collective.get_rank()] = [*socket.inet_aton(own_address(self._tracker)), port]
        every = collective.allreduce(numbers, collective.Op.SUM).reshape(numbers.shape).tolist()
        return [f"{'.'.join(map(str, parts))}:{port}" for *parts, port in every]


def own_address(other: str) -> str:
    """Return the IPv4 address from which this machine reaches another."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((other, 9))  # sends nothing, but chooses the address
            return str(probe.getsockname()[0])
    except OSError as error:
        raise InputError(
            f"LightGBM's workers need IPv4 addresses, and {other} can't be reached from one ({error}): use "
            "engine='xgboost'."
        ) from None


class ClusterEvaluator:
    """Metrics over all queries of a validation set, of which this worker has some.

    Parameters
    ----------
    metrics : dict
        Parts by name.
    data : RankingData
        The rows of this worker; there may be none.
    numbers : array of int64
        The number of each of its queries among all.
    queries : int
        The number of all queries.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self,
        metrics: dict[str, Any],
        data: RankingData,
        numbers: np.ndarray,
        queries: int,
        n_jobs: int | None,
    ) -> None:
        self.metrics = metrics
        self._numbers, self._queries = numbers, queries
        self._own = Evaluator(metrics, data.y, data.groups, n_jobs=n_jobs) if len(data) else None

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the values of all queries, in their order, given the scores of this worker's documents."""
        values = np.zeros((len(self.metrics), self._queries))
        if self._own is not None:
            found = self._own(scores).per_query
            for row, name in zip(values, self.metrics, strict=True):
                row[self._numbers] = found[name]
        # Each value comes from one worker, and the others add 0.
        every = collective.allreduce(values, collective.Op.SUM).reshape(values.shape)
        return Evaluation(np.arange(self._queries), dict(zip(self.metrics, every, strict=True)), {})


def no_queries() -> Groups:
    """Return the queries of a worker that has none."""
    nothing = np.zeros(0, np.int64)
    return Groups(np.zeros(1, np.int64), nothing, nothing)
