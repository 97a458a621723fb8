"""LightGBM's data-parallel trees: the same for any number of processes, which are threads here."""

import contextlib
import threading

import lightgbm as lgb
import numpy as np
import pytest

import rankwood as rw
from rankwood.cluster.messages import PeerFailed
from rankwood.engines import base
from rankwood.engines.lightgbm import engine as lightgbm
from rankwood.engines.lightgbm.network import DataParallel
from rankwood.objectives.families.registry import objective

XGBoostError = pytest.importorskip("xgboost.core").XGBoostError
collective = pytest.importorskip("rankwood.cluster.collective")

ROUNDS = 3
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
        self.params = {"random_state": 5, "n_jobs": 1, "num_leaves": 7, **params}
        self.before, self.states, self.text = before, {}, None
        self.weight, self.fails_in = WEIGHT[self.index], None

    def train(self, communicator, number):
        reference = lightgbm.reference(self.params, DATA.X)
        with collective.joined(communicator, number) as me:
            share = collective.WorkerMember(me, reference, len(DATA), self.ranges, self.queries)
            # The last process has no validation data, as may happen on a cluster.
            own = number + 1 < share.processes or share.processes == 1
            valid = self.data if own else None
            task = base.TrainingTask(
                *(self.data, self.data.groups, valid, objective("queryrmse"), ROUNDS),
                before=self.before,
                member=share,
            )
            engine = base.start("lightgbm", self.params, task)
            rounds = 0 if self.before is None else self.before.rounds
            while rounds < ROUNDS:
                assert engine.step(lambda scores, done=rounds: self.gradients(scores, done))
                rounds += 1
                assert engine.valid_scores().size == own * len(self.data)
                if not self.params.get("langevin"):
                    self.states[rounds] = engine.state(rounds)
            self.text = engine.model(ROUNDS).text

    def gradients(self, scores, done):
        if done == self.fails_in:
            raise ArithmeticError("in the objective")
        return self.weight * (scores - self.data.y), self.weight


def train(ranks):
    """Train in a thread for each process; return what went wrong in each."""
    tracker, communicator = collective.start_tracker(len(ranks), "127.0.0.1")
    errors = [None] * len(ranks)

    def one(number):
        try:
            ranks[number].train(communicator, number)
        except Exception as error:
            errors[number] = error

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(ranks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with contextlib.suppress(XGBoostError):  # it expects all of them to leave in order
        tracker.free()
    return errors


def trained(shares, before=None, **params):
    """Return the processes of a run that ended well."""
    ranks = [Rank(parts, params, before) for parts in shares]
    assert train(ranks) == [None] * len(ranks)
    return ranks


def on_one_machine(weight, **params):
    """Return the model of a run without any cluster."""
    rank = Rank(ONE[0], params, None)
    task = base.TrainingTask(DATA, DATA.groups, None, objective("queryrmse"), ROUNDS)
    engine = base.start("lightgbm", rank.params, task)
    for _ in range(ROUNDS):
        engine.step(lambda scores: (weight * (scores - DATA.y), weight))
    return engine.model(ROUNDS).text


def trees(text):
    """Return the part of a model that has no parameters."""
    return text[text.index("Tree=0") : text.index("end of trees")]


SAMPLES = {"subsample": 0.6, "colsample_bytree": 0.5, "min_child_samples": 1}


@pytest.mark.parametrize(
    "params",
    [
        {},
        SAMPLES,
        {"extra_trees": True, "feature_fraction_bynode": 0.6, "path_smooth": 1.0},
        {"langevin": True, "diffusion_temperature": 1e4, "monotone": {0: 1}},
    ],
    ids=["plain", "samples", "random splits", "noise"],
)
def test_any_number_of_processes_and_any_placement_give_one_model(params):
    found = {rank.text for shares in (HALVES, MIXED, THREE) for rank in trained(shares, **params)}
    assert len(found) == 1
    text = found.pop()
    assert lightgbm.load(text).n_features == DATA.n_features
    assert "127.0.0.1" not in text


def test_a_run_goes_on_with_other_processes():
    whole = trained(HALVES, **SAMPLES)
    rest = trained(THREE, before=whole[0].states[1], **SAMPLES)
    assert {rank.text for rank in rest} == {whole[0].text}
    assert rest[1].states[ROUNDS] == whole[0].states[ROUNDS]
    alone = Rank(ONE[0], SAMPLES, whole[0].states[1])
    (error,) = train([alone])
    assert isinstance(error, rw.InputError) and "made by several workers" in str(error)


def test_one_process_trains_as_one_machine():
    (rank,) = trained(ONE, subsample=0.6)
    assert rank.text == on_one_machine(WEIGHT, subsample=0.6)


def test_trees_are_those_of_one_machine_if_every_document_counts_the_same(monkeypatch):
    # LightGBM estimates the documents of a leaf by their Hessians, which is exact if these are equal.
    monkeypatch.setitem(globals(), "WEIGHT", np.ones(len(DATA)))
    found = {trees(rank.text) for rank in trained(THREE)}
    assert found == {trees(on_one_machine(WEIGHT))}


def test_an_error_in_one_process_ends_all_of_them():
    ranks = [Rank(parts, {}, None) for parts in THREE]
    ranks[1].fails_in = 1
    errors = train(ranks)
    assert [type(error) for error in errors] == [PeerFailed, ArithmeticError, PeerFailed]


def test_a_port_that_another_program_took_is_tried_again():
    failures = ["Binding port 7 failed", "Binding port 7 failed", "No space"]

    class Share:
        rows, leaving = np.array([[0, 1]]), contextlib.ExitStack()

        def addresses(self, port):
            return [f"127.0.0.1:{port}", "127.0.0.1:7"]

    def make(network):
        assert network["machines"] == f"127.0.0.1:{network['local_listen_port']},127.0.0.1:7"
        raise lgb.basic.LightGBMError(failures.pop(0))

    with Share.leaving, pytest.raises(lgb.basic.LightGBMError, match="No space"):
        DataParallel({}, Share()).with_network(make)
    assert not failures


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"objective": "bi-lambdarank-ndcg@5"}, "objectives of pairs"),
        ({"interactions": [[0, 1]]}, "interaction_constraints can't be used on a cluster"),
        ({"boosting_type": "goss"}, "boosting='goss'.*use 'gbdt'"),
        ({"tree_learner": "voting"}, "tree_learner='voting'.*use 'data'"),
        ({"subsample_freq": 5}, "bagging_freq above 1"),
        ({"linear_tree": True}, "linear_tree can't be used"),
    ],
)
def test_what_several_machines_cannot_do_is_refused(params, words):
    params = dict(params)
    chosen = objective(params.pop("objective", "softmax"))
    with pytest.raises(rw.InputError, match=words):
        lightgbm.check_share(params, chosen)


def test_a_model_that_shrinks_keeps_no_checkpoint_on_a_cluster():
    ranks = [Rank(parts, {"model_shrink_rate": 0.1}, None) for parts in HALVES]
    errors = train(ranks)
    assert all(
        isinstance(e, rw.InputError) and "model_shrink_rate on a cluster" in str(e) for e in errors
    )
