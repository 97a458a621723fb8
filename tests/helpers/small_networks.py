"""Small networks and small data for tests."""

import numpy as np

import rankwood as rw
from tests.helpers.random_lists import random_lists

#: Parameters that make a small network, by architecture.
SMALL = {
    "dnn": {"hidden": (16, 8)},
    "gsf": {"hidden": (16, 8)},
    "attn-din": {"hidden": (16,), "layers": 1, "size": 8},
    "setrank": {"layers": 1, "size": 8},
}


def small(architecture="dnn", **params):
    """Return a small ranker that trains quickly."""
    given = {"epochs": 4, "batch_documents": 200, "n_jobs": 1, "device": "cpu", "verbose": False}
    own = {name: v for name, v in SMALL[architecture].items() if name not in params}
    return rw.NeuralRanker(architecture, **{"objective": "softmax", **given, **own, **params})


def some_data(seed=0, queries=30, longest=30):
    """Return random data with a signal, with lists of one document."""
    X, y, sizes = random_lists(np.random.default_rng(seed), queries, longest)
    return rw.RankingData(X, y, group=sizes)
