"""Predictions from several threads, in forked processes, and files of processes that are killed: small versions of
`benchmarks.threads_and_forks` and `benchmarks.kill_writes`, each in a process of its own."""

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
]

FORKS = """
from benchmarks.threads_and_forks import TASKS, in_fork, in_threads, fitted, _data
for engine in ("lightgbm", "xgboost"):
    ranker = fitted(engine)
    expected = ranker.predict(_data())
    print(engine, in_threads(ranker, 8, 10), *{in_fork(task, ranker, expected) for task in TASKS})
"""
KILLS = """
import random
from benchmarks.kill_writes import run, subjects
for name, subject in subjects().items():
    print(name, run(subject, 8, random.Random(3)).torn)
"""


def output(code):
    # Python warns of forks in a process with threads, which is what this is about.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_threads_and_forked_processes_give_the_same_bits():
    assert output(FORKS) == ["lightgbm 0 same bits", "xgboost 0 same bits"]


def test_killed_processes_tear_no_file():
    assert output(KILLS) == ["save 0", "cache 0", "train 0", "per-query table 0"]


def test_a_process_that_was_not_forked_uses_its_threads():
    from rankwood.engines import forks

    assert not forks.in_child() and forks.engine_threads(3) == 3
