"""A team of threads that share the loops of one kernel.

The first member runs the kernel. Where its work can be shared, it announces a loop of so many items, and all members
take items, one by one, until none is left. A loop is announced by one number, so that a member which comes late can't
take an item of another loop:

    bits    63 .. 40     39 .. 20    19 .. 0
           | number    | items     | next item |

The first member takes every item that nobody else has taken, and waits only for items that somebody has begun: a member
that never starts costs nothing. Announcing a loop takes less than a microsecond, a hundredth of what a pool of threads
takes.
"""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.atomics import fetch_add, give_way, load_shared, pause, store_shared

MOST_ITEMS = 2**20 - 1
_ITEM_BITS = 20
_LOOP_SHIFT = 40
# Where a team's numbers are: each has a cache line of its own.
_CLAIM, _FINISHED, _OVER, _LOOPS = 0, 16, 32, 48
_SIZE = 64
_PATIENCE = 300  # turns of waiting before a member lets other threads run


def new_team() -> np.ndarray:
    """Return the numbers that the members of a team share."""
    return np.zeros(_SIZE, np.int64)


def reset(team: np.ndarray) -> None:
    """Prepare a team for its next kernel; no member may be in one."""
    team[:] = 0


@uncounted
def announce(team: Any, items: Any) -> None:
    """Let all members take the items of a new loop; everything that the loop reads must be written before."""
    team[_LOOPS] += 1
    store_shared(team, _FINISHED, 0)
    store_shared(team, _CLAIM, (team[_LOOPS] << _LOOP_SHIFT) + (np.int64(items) << _ITEM_BITS))


@uncounted
def take_item(team: Any) -> Any:
    """Return the next item of the loop, -1 if none is left."""
    claim = fetch_add(team, _CLAIM, 1)
    item = claim & MOST_ITEMS
    return item if item < (claim >> _ITEM_BITS) & MOST_ITEMS else np.int64(-1)


@uncounted
def finish_item(team: Any) -> None:
    """Say that an item is done."""
    fetch_add(team, _FINISHED, 1)


@uncounted
def has_items(team: Any) -> Any:
    """Tell whether items are left to take."""
    claim = load_shared(team, _CLAIM)
    return (claim & MOST_ITEMS) < (claim >> _ITEM_BITS) & MOST_ITEMS


@uncounted
def wait_for(team: Any, items: Any) -> None:
    """Wait until all items of the loop are done."""
    turns = 0
    while load_shared(team, _FINISHED) < items:
        turns = wait_a_turn(turns)


@uncounted
def wait_a_turn(turns: Any) -> Any:
    """Wait a moment, and return the number of turns so far: who has waited for long lets others run."""
    pause()
    if turns > _PATIENCE:
        give_way()
    return turns + 1


@uncounted
def disband(team: Any) -> None:
    """Say that no loop will come any more."""
    store_shared(team, _OVER, 1)


@uncounted
def is_over(team: Any) -> Any:
    """Tell whether no loop will come any more."""
    return load_shared(team, _OVER) != 0
