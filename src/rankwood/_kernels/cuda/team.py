"""Functions that a kernel calls for its team. The bodies are for the simulator, in which threads are Python's."""

import threading
from typing import Any

import numpy as np

from rankwood._kernels import each as sharing

#: Bytes of shared memory of the kernel that the simulator runs.
SIMULATED_BYTES = [0]


def _me() -> Any:
    return threading.current_thread()


def thread() -> Any:
    """Return the number of this thread in its team."""
    return _me().threadIdx.x


def team_size() -> Any:
    """Return the number of threads of the team."""
    return _me()._manager._block_dim[0]


def block() -> Any:
    """Return the number of the team."""
    return _me().blockIdx.x


def barrier() -> Any:
    """Wait until the whole team is here; then every thread sees what the others have stored."""
    _me().syncthreads()


def shared_memory() -> Any:
    """Return the team's own memory, as float32 numbers; its size is set when the kernel is started."""
    return vars(_me()._manager).setdefault("memory", np.zeros(SIMULATED_BYTES[0] // 4, np.float32))


def set_alone(alone: Any) -> Any:
    """Set whether `each`, `sum_of` and `highest` are called by one thread, not by the whole team."""
    _me()._manager.alone = alone


def alone() -> Any:
    """Tell whether one thread works, not the whole team."""
    return bool(_me()._manager.alone)


def _over_team(x: Any, combine: Any) -> Any:
    numbers = vars(_me()._manager).setdefault("numbers", {})
    numbers[thread()] = x
    barrier()
    total = combine([numbers[i] for i in range(team_size())])
    barrier()
    return total


def team_sum(x: Any) -> Any:
    """Return the sum of x over the team, bit-identical in every thread and every run."""
    return _over_team(x, lambda values: type(x)(sum(values)))


def team_max(x: Any) -> Any:
    """Return the largest x of the team; NaN if any is."""
    return _over_team(x, np.max)


def broadcast(value: Any) -> Any:
    """Broadcast thread 0's value to the team."""
    return _over_team(value, lambda values: values[0])


class _Simulated:
    """How the threads of a simulated team share loops and sums."""

    def inside(self) -> bool:
        """Tell whether this is a thread of a simulated team."""
        return hasattr(_me(), "syncthreads")

    def each(self, n: int) -> Any:
        """Yield this thread's share of the numbers from 0 to n."""
        if alone():
            yield from range(n)
            return
        barrier()
        yield from range(thread(), n, team_size())
        barrier()

    def only(self, i: int) -> Any:
        """Yield one number, in the first thread."""
        if alone():
            yield i
            return
        barrier()
        if thread() == 0:
            yield i
        barrier()

    def fill_powers(self, column: Any, n: Any, base: Any, k: Any) -> None:
        """Fill a column with powers."""
        for i in self.each(n):
            column[i] = sharing.power(base, i) if i < k else 0.0

    def sum_of(self, column: Any) -> Any:
        """Return the sum of a column."""
        total = type(column[0])(0)
        for i in self.each(column.size):
            total += column[i]
        return total if alone() else team_sum(total)

    def highest(self, column: Any) -> Any:
        """Return the place of the largest number of a column."""
        if not alone():
            barrier()
        return int(np.argmax(column))


def simulate() -> None:
    """Let the loops of verbs be shared by simulated threads."""
    sharing.SIMULATED[:] = [_Simulated()]
