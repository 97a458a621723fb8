"""LightGBM's data-parallel trees: the same for any number of processes, which are threads here."""

import threading

import numpy as np
import pytest

import rankwood as rw
from rankwood.distributed.errors import PeerFailed
from rankwood.engines import base
from rankwood.engines.lightgbm import engine as lightgbm
from rankwood.objectives.families.registry import objective

collective = pytest.importorskip("rankwood.distributed.collective")

ROUNDS = 4
DATA = rw.make_ranking(60, seed=3)
# Weights over orders of magnitude: without a common grid, sums would depend on their order.
WEIGHT = 10 ** np.random.default_rng(0).uniform(-2, 2, len(DATA))
ONE = [[range(60)]]
HALVES = [[range(30)], [range(30, 60)]]
MIXED = [[range(45, 60), range(10)], [range(10, 45)]]
THREE = [[range(8)], [range(40, 60)], [range(8, 40)]]


def rows_of(queries):
    """Return the rows of neighbouring queries as a range."""
    return DATA.groups.ptr[queries.start], DATA.groups.ptr[queries.stop]


class Rank:
    """What one process does, with the gradients of a weighted squared error."""

    def __init__(self, parts, params, before):
        ranges = np.array([rows_of(part) for part in parts])
        self.index = np.concatenate([np.arange(*both) for both in ranges.tolist()])
        queries = np.concatenate([list(part) for part in parts])
        sizes = DATA.groups.sizes[queries]
        self.data = rw.RankingData(DATA.X[self.index], DATA.y[self.index], group=sizes)
        self.ranges, self.queries = ranges, queries
        self.params = {"random_state": 5, "n_jobs": 1, "num_leaves": 15, **params}
        self.before, self.states, self.text = before, {}, None

    def train(self, communicator, number):
        reference = lightgbm.reference(self.params, DATA.X)
        with collective.joined(communicator, number) as me:
            share = collective.ClusterShare(me, reference, len(DATA), self.ranges, self.queries)
            # The last process has no validation data, as may happen on a cluster.
            own = number + 1 < share.processes or share.processes == 1
            valid = self.data if own else None
            task = base.TrainingTask(
                *(self.data, self.data.groups, valid, objective("queryrmse"), ROUNDS),
                before=self.before,
                share=share,
            )
            engine = base.start("lightgbm", self.params, task)
            weight, y = WEIGHT[self.index], self.data.y
            rounds = 0 if self.before is None else self.before.rounds
            while rounds < ROUNDS:
                assert engine.update(lambda scores: (weight * (scores - y), weight))
                rounds += 1
                assert engine.valid_scores().size == own * len(self.data)
                self.states[rounds] = engine.state() if not self.params.get("langevin") else None
            self.text = engine.model(ROUNDS).text


def texts(shares, before=None, **params):
    """Return the model of each process, and the states of the first after each round."""
    ranks = [Rank(parts, params, before) for parts in shares]
    tracker, communicator = collective.start_tracker(len(shares), "127.0.0.1")
    errors = []

    def train(number):
        try:
            ranks[number].train(communicator, number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=train, args=(number,)) for number in range(len(ranks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise next((e for e in errors if not isinstance(e, PeerFailed)), errors[0])
    tracker.wait_for()
    tracker.free()
    return [rank.text for rank in ranks], ranks[0].states


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"subsample": 0.6, "colsample_bytree": 0.5, "min_child_samples": 1},
        {"extra_trees": True, "feature_fraction_bynode": 0.6, "path_smooth": 1.0},
        {"langevin": True, "diffusion_temperature": 1e4, "monotone": {0: 1}},
    ],
    ids=["plain", "samples", "random splits", "noise"],
)
def test_any_number_of_processes_and_any_placement_give_one_model(params):
    found = {text for shares in (HALVES, MIXED, THREE) for text in texts(shares, **params)[0]}
    assert len(found) == 1
    text = found.pop()
    assert lightgbm.load(text).n_features == DATA.n_features
    assert "127.0.0.1" not in text
