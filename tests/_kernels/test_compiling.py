"""Compilation: timed apart from what is computed, and said on a terminal."""

import io
import sys
import time
from contextlib import contextmanager

import numba
import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels.compile.timer import compile_note, timing_compilation
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.random_lists import random_lists


def new_function():
    """Return a function that nobody has compiled."""
    return numba.njit(lambda x: x + 1)


def test_compilation_is_timed_and_noted_once():
    calls = []
    function = new_function()
    with timing_compilation(lambda: calls.append(1)) as timer:
        start, clock = time.perf_counter(), timer.clock()
        assert function(1) == 2
        wall, counted = time.perf_counter() - start, timer.clock() - clock
        first = timer.seconds
        assert function(2) == 3
    assert calls == [1]
    assert 0 < first == timer.seconds <= wall
    assert 0 <= counted <= wall - 0.9 * first
    new_function()(1)
    assert timer.seconds == first  # nobody listens any more


def test_threads_that_compile_at_once_count_once():
    from concurrent.futures import ThreadPoolExecutor

    functions = [new_function() for _ in range(3)]
    with timing_compilation() as timer, ThreadPoolExecutor(3) as pool:
        start = time.perf_counter()
        assert list(pool.map(lambda f: f(1), functions)) == [2, 2, 2]
        wall = time.perf_counter() - start
    assert 0 < timer.seconds <= wall


@pytest.fixture
def compiling(monkeypatch):
    """Let the gradients of the first round compile something."""
    plain, took = GradientComputer.__call__, []

    def slow(self, scores, round=0):
        if round == 0:
            with timing_compilation() as timer:
                new_function()(round)
            took.append(timer.seconds)
        return plain(self, scores, round)

    monkeypatch.setattr(GradientComputer, "__call__", slow)
    return took


@pytest.fixture(scope="module")
def data():
    X, y, sizes = random_lists(np.random.default_rng(1), queries=20, longest=20)
    data = rw.RankingData(X, y, group=sizes)
    rw.Ranker(n_estimators=1, n_jobs=1).fit(data)  # whatever else there is to compile
    return data


def test_compilation_is_not_booked_as_gradients(data, compiling):
    ranker = rw.Ranker(n_estimators=3, n_jobs=1, record=["seconds"]).fit(data)
    (took,) = compiling
    assert ranker.seconds_["compiling"] >= 0.99 * took  # two clocks around the same work
    assert ranker.seconds_["gradients"] < took
    assert ranker.record_["seconds_gradients"][0] < took
    again = rw.Ranker(n_estimators=3, n_jobs=1).fit(data)
    assert again.seconds_["compiling"] >= 0.99 * compiling[1]


def test_the_progress_bar_says_so(data, compiling, monkeypatch):
    notes = []

    @contextmanager
    def bar(total, title, show):
        yield lambda note, steps=1: notes.append((note, steps))

    monkeypatch.setattr("rankwood.fit.observers.progress.bar", bar)
    rw.Ranker(n_estimators=2, n_jobs=1).fit(data)
    assert notes == [("compiling; the next process finds the code on disk", 0), ("", 1), ("", 1)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_on_a_terminal_only(monkeypatch):
    for stream, show, lines in (
        (Terminal(), None, 1),
        (io.StringIO(), None, 0),
        (io.StringIO(), True, 1),
        (Terminal(), False, 0),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with timing_compilation(compile_note(show)):
            new_function()(1)
            new_function()(1)
        assert stream.getvalue() == "Compiling; the next process finds the code on disk.\n" * lines
