"""Work that several threads share."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from rankwood._kernels import threads
from rankwood._util.checks import InputError


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [0, 1, 2, 5, 100])
def test_every_item_is_worked_on_once(n_jobs, size):
    done = np.zeros(size, int)

    def kernel(first, last):
        done[first:last] += 1

    threads.run_ranges(kernel, np.arange(size) % 4 + 0.5, n_jobs)
    assert (done == 1).all()


def test_ranges_become_smaller():
    found = []
    threads.run_ranges(lambda a, b: found.append((a, b)), np.ones(1000), 2, chunks=4)
    sizes = [b - a for a, b in sorted(found)]
    assert sum(sizes) == 1000 and sizes[0] == 333
    assert all(a >= b - 1 for a, b in pairwise(sizes))
    assert 8 <= len(sizes) <= 12 and max(sizes[-3:]) < 60


def test_ranges_go_by_cost():
    found = []
    threads.run_ranges(lambda a, b: found.append((a, b)), np.array([8.0, *[1.0] * 16]), 2, chunks=1)
    assert sorted(found)[0] == (0, 1)  # a third of it


def test_threads_work_at_the_same_time():
    meet = threading.Barrier(2)
    threads.run_ranges(lambda a, b: meet.wait(30), np.ones(2), 2)
    assert not meet.broken


@pytest.mark.parametrize("where", [True, False])
def test_errors_reach_the_caller(where):
    """Whichever thread they come from, and only when the other one has stopped."""
    main, meet = threading.current_thread(), threading.Barrier(2)
    working = []

    def kernel(first, last):
        meet.wait(30)
        if (threading.current_thread() is main) == where:
            raise ValueError("broken")
        working.append(first)
        time.sleep(0.05)
        working.pop()

    with pytest.raises(ValueError, match="broken"):
        threads.run_ranges(kernel, np.ones(2), 2, chunks=1)
    assert working == []


def test_busy_threads_are_not_waited_for():
    """Also what is called from inside: a kernel that runs another one."""
    hold, held = threading.Event(), threading.Barrier(2)
    caught = []

    def blocked(first, last):
        held.wait(30)
        if threading.current_thread() is not outer:
            hold.wait(30)

    def all_of_it():
        threads.run_ranges(blocked, np.ones(2), 2, chunks=1)
        caught.append(True)

    outer = threading.Thread(target=all_of_it)
    outer.start()
    time.sleep(0.2)  # the one other thread there is has nothing but `hold` to wait for
    done = []
    threads.run_ranges(lambda a, b: done.append((a, b)), np.ones(9), 2)
    assert sum(b - a for a, b in done) == 9
    hold.set()
    outer.join(30)
    assert caught == [True]


def test_threads_are_not_kept_for_every_number_of_jobs():
    before = threading.active_count()
    for n_jobs in range(2, 12):
        threads.run_ranges(lambda a, b: time.sleep(0.001), np.ones(40), n_jobs)
    assert threading.active_count() - before <= 10


def test_too_many_threads_are_refused():
    assert threads.threads(threads.MOST) == threads.MOST
    with pytest.raises(InputError, match="n_jobs must be at most 1024, got 2147483648"):
        threads.threads(2**31)
