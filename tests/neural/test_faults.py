"""NeuralRanker: what goes wrong is one error message, and nothing is lost."""

import sys

import numpy as np
import pytest
import torch

import rankwood as rw
from rankwood.neural import library
from rankwood.neural.architectures.dnn import DNN
from rankwood.neural.learner import NetworkLearner
from tests.helpers.small_networks import small, some_data


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"architecture": "attn_din"}, "did you mean 'attn-din'"),
        ({"objective": "bi-softmax"}, "omit bi-"),
        ({"heads": 7}, "'dnn' has no parameter heads, got 7; it has hidden"),
        ({"hidden": 64}, "such as (256, 128, 64), got 64"),
        ({"hidden": (8, 0)}, "hidden must be at least 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"momentum": 0}, "momentum must be above 0"),
        ({"optimizer": "sgd"}, "optimizer must be one of 'adagrad', 'adam'"),
        ({"schedule": "step"}, "schedule must be one of"),
        ({"precision": "half"}, "precision must be one of"),
        ({"learning_rate": 0}, "learning_rate must be positive"),
        ({"clip": -1}, "clip must be positive"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"batch_documents": 1}, "batch_documents must be at least 2"),
        ({"transform": "log"}, "did you mean 'log1p'"),
        ({"eval_metric": "ndgc@10"}, "did you mean 'ndcg'"),
        ({"device": "gpu"}, "device must be 'auto', 'cpu' or 'cuda'"),
        ({"device": "meta"}, "device must be 'auto', 'cpu' or 'cuda'"),
        ({"n_jobs": "two"}, "n_jobs must be an integer"),
        (
            {"architecture": "setrank", "hidden": (256, 128, 64), "size": 9},
            "must be a multiple of heads, 2",
        ),
        ({"architecture": "gsf", "group_size": 3, "differences": True}, "set group_size=2, got 3"),
    ],
)
def test_parameters_that_make_no_sense(train, params, message):
    ranker = small(**{k: v for k, v in params.items() if k != "architecture"})
    if "architecture" in params:
        ranker.set_params(architecture=params["architecture"])
    with pytest.raises(rw.InputError) as error:
        ranker.fit(train)
    assert message in str(error.value)
    assert str(error.value).rstrip().endswith((".", "?")) and "\n" not in str(error.value)
    assert not hasattr(ranker, "model_")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu(train):
    with pytest.raises(rw.InputError, match="PyTorch finds no GPU here; use device='cpu'"):
        small(device="cuda").fit(train)


@pytest.mark.parametrize("missing", ["torch", "safetensors"])
def test_without_the_packages(train, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        rw.InputError, match=rf"needs the package {missing}: pip install 'rankwood\[torch\]'"
    ):
        library.need_torch()


def test_features_of_another_width(train):
    ranker = small(epochs=1).fit(train)
    with pytest.raises(
        rw.InputError, match=r"X has 3 features, but .*Ranker is expecting 8 features"
    ):
        ranker.predict(train.X[:, :3])
    with pytest.raises(rw.InputError, match="validation data has 3 features"):
        small().fit(train, valid=(train.X[:, :3], train.y, train.qid))
    assert ranker.predict(train.X[:0]).size == 0


def test_features_that_are_too_large_to_score(train):
    ranker = small(epochs=1, transform="standardise").fit(train)
    X = train.X.copy()
    X[4] = 3e38
    with pytest.raises(rw.InputError, match=r"score of row 4 is .*: its features are too large"):
        ranker.predict(X)


def test_networks_of_lists_need_queries(train):
    assert small(epochs=1).fit(train).predict(train.X).shape == (len(train),)
    with pytest.raises(rw.InputError, match="give predict a RankingData, qid= or group="):
        small("setrank", epochs=1).fit(train).predict(train.X)


@pytest.mark.parametrize("architecture", ["dnn", "gsf", "attn-din", "setrank"])
def test_lists_of_one_document_and_batches_without_relevant_ones(architecture, rng):
    X = rng.normal(size=(40, 3))
    alone = rw.RankingData(X, rng.integers(0, 3, 40), qid=np.arange(40))
    assert np.isfinite(small(architecture, batch_documents=2).fit(alone).predict(alone)).all()
    useless = rw.RankingData(X, np.zeros(40), group=[4] * 10)
    ranker = small(architecture, batch_documents=8)
    assert np.isfinite(ranker.fit(useless, valid=useless).predict(useless)).all()


def test_one_document_is_too_few():
    with pytest.raises(rw.InputError, match="at least two documents"):
        small().fit(rw.RankingData([[1.0]], [1]))


def test_no_feature_is_too_few():
    with pytest.raises(rw.InputError, match="at least one feature, and X has no columns"):
        small().fit(rw.RankingData(np.zeros((4, 0)), [0, 1, 0, 1], group=[2, 2]))


def poison(monkeypatch, epoch):
    """Make the network diverge in an epoch."""
    steps = NetworkLearner._steps

    def poisoned(self):
        if self._epochs == epoch - 1:
            with torch.no_grad():
                next(self.parts.network.parameters()).fill_(float("nan"))
        return steps(self)

    monkeypatch.setattr(NetworkLearner, "_steps", poisoned)


def test_a_diverged_network_keeps_the_best_epoch(train, monkeypatch):
    valid = some_data(1)
    undisturbed = small(epochs=3).fit(train, valid=valid)
    poison(monkeypatch, 4)
    with pytest.warns(RuntimeWarning, match="diverged in epoch 4.*epoch . is kept.*learning_rate"):
        ranker = small(epochs=9).fit(train, valid=valid)
    assert ranker.stopped_ == "diverged"
    assert len(ranker.history_["ndcg@10"]) == 3
    assert ranker.best_iteration_ == undisturbed.best_iteration_
    assert ranker.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()
    with pytest.warns(RuntimeWarning, match="epoch 3 is kept"):
        last = small(epochs=9).fit(train)
    assert last.best_iteration_ == 3 and np.isfinite(last.predict(valid)).all()


def test_a_network_that_diverges_right_after_it_is_resumed(train, monkeypatch, tmp_path):
    two = small(epochs=2).fit(train, checkpoint=tmp_path / "c.json")
    poison(monkeypatch, 3)
    with pytest.warns(RuntimeWarning, match="diverged in epoch 3.*epoch 2 is kept"):
        ranker = small(epochs=5).fit(train, checkpoint=tmp_path / "c.json")
    assert (ranker.stopped_, ranker.best_iteration_) == ("diverged", 2)
    assert ranker.predict(train).tobytes() == two.predict(train).tobytes()


def test_divergence_in_the_first_epoch_is_an_error(train, monkeypatch):
    poison(monkeypatch, 1)
    ranker = small()
    with pytest.raises(
        rw.InputError, match="diverged in epoch 1: its scores are not finite; a smaller"
    ):
        ranker.fit(train)
    assert not hasattr(ranker, "model_")


def test_a_learning_rate_that_is_far_too_large(train):
    ranker = small(learning_rate=1e38, batch_norm=False, clip=None, optimizer="adagrad")
    with pytest.raises(rw.InputError, match="diverged in epoch 1"):
        ranker.fit(train)


def out_of_memory(monkeypatch, most):
    """Let batches of more documents fail as on a GPU."""
    forward = DNN.forward

    def limited(self, rows, lists):
        if self.training and rows.shape[0] > most:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return forward(self, rows, lists)

    monkeypatch.setattr(DNN, "forward", limited)


def test_out_of_memory_halves_the_batch_once(train, monkeypatch):
    smaller = small(batch_documents=100).fit(train)
    out_of_memory(monkeypatch, 180)
    ranker = small(batch_documents=200).fit(train)
    assert ranker.predict(train).tobytes() == smaller.predict(train).tobytes()
    assert ranker.batch_documents == 200


def test_out_of_memory_a_second_time_is_an_error(train, monkeypatch):
    out_of_memory(monkeypatch, 50)
    with pytest.raises(rw.InputError, match="too little memory for batches of 100 documents"):
        small(batch_documents=200).fit(train)


def test_data_that_no_gpu_can_hold(train, monkeypatch):
    def full(*given):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("rankwood.neural.learner.resident", full)
    with pytest.raises(rw.InputError, match="too little memory for the data, 476 rows of 8 inputs"):
        small().fit(train)


def test_an_interrupt_keeps_the_epochs_so_far(train, monkeypatch):
    from rankwood.neural.loss import BatchGradient

    two = small(epochs=2).fit(train)
    gradient = BatchGradient.__call__

    def interrupted(self, scores, step):
        if step == 2 * 2**20 + 1:  # within the third epoch
            raise KeyboardInterrupt
        return gradient(self, scores, step)

    monkeypatch.setattr(BatchGradient, "__call__", interrupted)
    ranker = small(epochs=5)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(train)
    assert ranker.stopped_ == "interrupted" and ranker.best_iteration_ == 2
    assert ranker.predict(train).tobytes() == two.predict(train).tobytes()


@pytest.mark.parametrize("epoch", [1, 3])
def test_an_interrupt_while_an_epoch_is_evaluated_keeps_the_epochs_before(
    train, monkeypatch, epoch
):
    from rankwood.fit.observers.evaluation import Evaluations

    valid = some_data(1)
    before = small(epochs=2, early_stopping_rounds=None).fit(train, valid=valid)
    evaluate = Evaluations.after_round

    def interrupted(self, run):
        if run.number == epoch:
            raise KeyboardInterrupt
        return evaluate(self, run)

    monkeypatch.setattr(Evaluations, "after_round", interrupted)
    ranker = small(epochs=5, early_stopping_rounds=None)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(train, valid=valid)
    if epoch == 1:  # no epoch is complete, so there is no model
        assert not hasattr(ranker, "model_")
        return
    assert ranker.best_iteration_ == 2 and ranker.history_ == before.history_
    assert ranker.predict(train).tobytes() == before.predict(train).tobytes()


def test_a_step_without_memory_is_freed_before_the_next_try(train, monkeypatch):
    out_of_memory(monkeypatch, 180)
    handled = []
    halve = NetworkLearner._halve

    def watched(self):
        handled.append(sys.exc_info()[0])
        halve(self)

    monkeypatch.setattr(NetworkLearner, "_halve", watched)
    small(batch_documents=200, epochs=1).fit(train)
    assert handled == [None]
