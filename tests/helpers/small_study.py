"""A study that takes a second: tiny data, tiny trees."""

import re

import pytest

import rankwood as rw
from rankwood.spaces import Float, Integer, Space

SPACE = Space(
    {
        "learning_rate": Float(0.02, 0.5, log=True),
        "num_leaves": Integer(2, 15, log=True),
        "min_child_samples": Integer(2, 60),
    }
)


def data():
    """Return training and validation data."""
    return rw.make_ranking(60, seed=3).split(0.4, seed=1)


def ranker(**params):
    """Return a ranker of few small trees."""
    known = {"n_estimators": 10, "num_leaves": 7, "n_jobs": 1, "eval_metric": "ndcg@5"}
    known |= {"learning_rate": 0.1, "extra_trees": False}
    return rw.Ranker("lambdarank-ndcg@10", **{**known, **params})


def study(**how):
    """Return the result of a small study."""
    train, valid = data()
    known = {"space": SPACE, "tuner": "random", "trials": 6, "pruner": None}
    return rw.tune(ranker(), train, valid, **{**known, **how})


def same(one, other):
    """Return whether two studies have the same trials, but for their times, and the same model."""
    names = [name for name in one.trials.dtype.names if name != "seconds"]
    equal = one.trials[names].tolist() == other.trials[names].tolist()
    return equal and one.best.model_.text == other.best.model_.text


def refused(message):
    """Return a context in which an `InputError` with this message, of one sentence, must be raised."""
    return pytest.raises(rw.InputError, match=re.escape(message))


def interrupt_fit(patch, number):
    """Let the fit of this number, from 1, be interrupted."""
    real, calls = rw.Ranker._fit, []

    def fit(*args):
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        real(*args)

    patch.setattr(rw.Ranker, "_fit", fit)
