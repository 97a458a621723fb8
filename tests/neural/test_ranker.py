"""NeuralRanker: training, stopping, seeds and threads, scikit-learn's manners."""

import copy
import inspect
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold

import rankwood as rw
from rankwood.neural.architectures.dnn import DNN
from rankwood.neural.architectures.lists import Lists
from rankwood.neural.architectures.table import build
from rankwood.neural.data import resident
from rankwood.neural.loss import BatchGradient, Objective
from rankwood.neural.optimisation import SCHEDULES
from rankwood.neural.presets import PRESETS
from rankwood.neural.transforms import InputTransform
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.testing import interpreted
from rankwood.torch import RankingLoss
from tests.helpers.printed import printed
from tests.helpers.recipe_tables import load
from tests.helpers.small_networks import SMALL, small, some_data


def test_it_learns(train, valid):
    ranker = small(epochs=30, objective="lambdarank-ndcg@10").fit(train, valid=valid)
    untrained = rw.evaluate("ndcg@10", valid, np.zeros(len(valid)), ties="average").mean()[
        "ndcg@10"
    ]
    assert ranker.score(valid) > untrained + 0.1
    curve = ranker.history_["ndcg@10"]
    assert ranker.score(valid) == pytest.approx(max(curve), abs=1e-12)
    assert ranker.best_iteration_ == 1 + int(np.argmax(curve))
    assert set(ranker.seconds_) == {"compiling", "transform", "training", "evaluation"}


@pytest.mark.parametrize("architecture", SMALL)
def test_a_small_batch_is_learned_by_heart(architecture):
    data = some_data(5, queries=3, longest=12)
    drop = "attention_dropout" if architecture == "setrank" else "dropout"
    ranker = small(architecture, epochs=80, learning_rate=0.03, **{drop: 0.0})
    ranker.set_params(shuffles=8 if architecture == "gsf" else 1, batch_documents=10_000)
    scores = ranker.fit(data).predict(data)
    assert rw.evaluate("ndcg", data, scores, empty=1).mean()["ndcg"] == 1.0


def test_early_stopping_keeps_the_best_epoch(train, valid):
    ranker = small(epochs=60, early_stopping_rounds=2, learning_rate=0.05).fit(train, valid=valid)
    curve = ranker.history_["ndcg@10"]
    assert ranker.stopped_ == "early stopping"
    assert len(curve) == ranker.best_iteration_ + 2 < 60
    short = small(epochs=ranker.best_iteration_, learning_rate=0.05, early_stopping_rounds=None)
    np.testing.assert_array_equal(short.fit(train).predict(valid), ranker.predict(valid))
    assert short.stopped_ == "epochs" and short.history_ == {}


@pytest.mark.parametrize("architecture", SMALL)
def test_same_seed_same_bits_on_any_number_of_threads(architecture, train, valid):
    before, seed_before = torch.get_num_threads(), torch.random.get_rng_state()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            ranker = small(architecture, epochs=2, n_jobs=threads, random_state=3)
            found.append(ranker.fit(train, valid=valid))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    one, two = found
    assert one.predict(valid).tobytes() == two.predict(valid).tobytes()
    for name, weights in one.model_.weights.items():
        assert weights.tobytes() == two.model_.weights[name].tobytes(), name
    assert torch.equal(torch.random.get_rng_state(), seed_before)
    other = clone(one).set_params(random_state=4).fit(train)
    assert other.predict(valid).tobytes() != one.predict(valid).tobytes()


def test_scoring_in_parallel_changes_no_bit(train, monkeypatch):
    monkeypatch.setattr("rankwood.neural.scoring._DOCUMENTS", 50)
    ranker = small("attn-din", epochs=1).fit(train)
    scores = [ranker.set_params(n_jobs=n).predict(train) for n in (1, 3)]
    assert scores[0].tobytes() == scores[1].tobytes()


def test_rows_without_queries_are_scored_in_batches(train, monkeypatch):
    monkeypatch.setattr("rankwood.neural.scoring._DOCUMENTS", 50)
    ranker, sizes, forward = small(epochs=1).fit(train), [], DNN.forward

    def watched(self, rows, lists):
        sizes.append(rows.shape[0])
        return forward(self, rows, lists)

    monkeypatch.setattr(DNN, "forward", watched)
    alone = ranker.predict(train.X)
    assert max(sizes) < 100 and sum(sizes) == len(train)
    assert alone.tobytes() == ranker.predict(train).tobytes()


def test_networks_that_train_at_the_same_time_change_no_bit(train):
    expected = small(dropout=0.5).fit(train).predict(train).tobytes()
    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(lambda: small(dropout=0.5).fit(train).predict(train)) for _ in "abc"]
    assert [scores.result().tobytes() == expected for scores in found] == [True] * 3


@pytest.mark.parametrize("context", [torch.no_grad, lambda: torch.autocast("cpu", torch.bfloat16)])
def test_contexts_of_pytorch_change_nothing(train, context):
    ranker = small(epochs=1).fit(train)
    expected = ranker.predict(train).tobytes()
    with context():
        assert ranker.predict(train).tobytes() == expected
        assert small(epochs=1).fit(train).predict(train).tobytes() == expected


@pytest.mark.parametrize("architecture", ["dnn", "setrank"])
def test_defaults_of_pytorch_change_nothing(architecture, train):
    expected = small(architecture, epochs=1).fit(train).predict(train)
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        found = small(architecture, epochs=1).fit(train).predict(train)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("architecture", ["dnn", "attn-din"])
def test_scores_are_in_the_callers_order(architecture, train, rng):
    ranker = small(architecture, epochs=1).fit(train)
    order = rng.permutation(len(train))
    mixed = ranker.predict(train.X[order], qid=train.qid[order])
    np.testing.assert_allclose(mixed, ranker.predict(train)[order], atol=1e-5)


@pytest.mark.parametrize("objective", ["softmax", "lambdarank-ndcg@5", "yetirank@5"])
@pytest.mark.parametrize("ideal", ["list", "full"])
def test_the_gradient_is_that_of_the_objective(objective, ideal, rng):
    """Weights of queries, and ideals of documents that are not listed, count as in training with trees."""
    data = some_data(3, queries=6)
    data = rw.RankingData(data.X, data.y, qid=data.qid, weight=rng.random(6) + 0.5)
    if ideal == "full":
        data = data.cut_to(rng.random(len(data)) < 0.7)
    inside = resident(data, InputTransform.fit(data.X, ()), torch.device("cpu"))
    scores = torch.randn(len(data))
    with interpreted():
        own = Objective(rw.objective(objective), 4, 1)
        compute = BatchGradient(own, inside.labels, inside.lengths, torch.device("cpu"))
        found = compute(scores, 9).numpy()
        wanted, _ = rw.gradients(objective, data, scores.double().numpy(), seed=4, round=9)
    wanted *= (
        data.groups.per_row(data.weight) / inside.lengths.size
    )  # rows are in the order of queries
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-6)


#: Objectives whose gradient isn't the derivative of a value: an estimate at random, and a corrected one.
WITHOUT_VALUE = ("stochasticrank", "xendcg")


def test_gradients_of_every_smooth_objective_through_a_network(rng):
    """Central differences along a direction in the space of all weights; at this point no rank changes."""
    params = {**rw.NeuralRanker._defaults(), "hidden": (6,), "size": 4, "layers": 1, "heads": 1}
    params |= {"dropout": 0.0, "attention_dropout": 0.0, "batch_norm": False}
    torch.manual_seed(1)
    network = build("attn-din", 3, params).double()
    lengths = np.array([5, 1, 3])
    lists, y = Lists(lengths, torch.device("cpu")), torch.tensor([2.0, 0, 1, 0, 3, 1, 1, 0, 2])
    x = torch.from_numpy(rng.normal(size=(9, 3)))
    weights = list(network.parameters())
    direction = [torch.randn_like(w) for w in weights]

    def moved(loss, step):
        with torch.no_grad():
            for w, d in zip(weights, direction, strict=True):
                w += step * d
            value = loss(network(x, lists), y, lengths=lengths, round=0)
            for w, d in zip(weights, direction, strict=True):
                w -= step * d
        return float(value)

    for name, row in OBJECTIVES.items():
        if name.startswith(WITHOUT_VALUE) or name == "ranknet-pairs":  # a network has no pairs
            continue
        known = {p.name for p in row.parameters}
        text = f"{name}@3" if "k" in known else name
        with interpreted():
            loss = RankingLoss(text + "(norm=False)" * ("norm" in known))
            network.zero_grad()
            loss(network(x, lists), y, lengths=lengths, round=0).backward()
            slope = sum(float((w.grad * d).sum()) for w, d in zip(weights, direction, strict=True))
            wanted = (moved(loss, 1e-6) - moved(loss, -1e-6)) / 2e-6
        assert slope == pytest.approx(wanted, rel=1e-6, abs=1e-8), text
        assert slope != 0, text


def test_scikit_learns_manners(train, valid):
    ranker = small("gsf", group_size=3, random_state=5)
    again = clone(ranker)
    assert again.get_params() == ranker.get_params()
    ranker.fit(train)
    for other in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):
        assert other.predict(valid).tobytes() == ranker.predict(valid).tobytes()
    with pytest.raises(NotFittedError):
        again.predict(valid)
    assert rw.NeuralRanker(**ranker.get_params()).get_params() == ranker.get_params()


def test_grid_search_by_query(train):
    X, y, qid = train.X, train.y, train.qid
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"learning_rate": [1e-5, 0.02]}
        search = GridSearchCV(small(epochs=8), grid, cv=GroupKFold(2)).fit(
            X, y, qid=qid, groups=qid
        )
    assert search.best_params_ == {"learning_rate": 0.02}
    by_hand = [
        small(epochs=8, learning_rate=0.02)
        .fit(X[a], y[a], qid=qid[a])
        .score(X[b], y[b], qid=qid[b])
        for a, b in GroupKFold(2).split(X, y, qid)
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_features_with_names_are_matched(train):
    import pandas as pd

    names = [f"f{i}" for i in range(train.n_features)]
    table = pd.DataFrame(train.X, columns=names).assign(query=train.qid)
    named = rw.RankingData(train.X, train.y, qid=train.qid, feature_names=names)
    ranker = small("attn-din").fit(named)
    turned = table[[*names[::-1], "query"]]
    np.testing.assert_array_equal(ranker.predict(turned, qid="query"), ranker.predict(named))


def test_presets_have_the_numbers_of_the_paper():
    tables = load("bivariate")["items"]
    roles = {"web10k": "mslr10k", "web30k": "mslr30k", "yahoo": "yahoo1"}
    names = {
        "dnn": "DNN",
        "gsf-2": "GSF(2)",
        "gsf-20": "GSF(20)",
        "attn-din": "attn-DIN",
        "setrank": "SetRank",
    }
    seen = 0
    for (name, data), preset in PRESETS.items():
        rw.NeuralRanker.preset(name, data)._check(False)
        if data == "small":
            continue  # these are ours
        for table in ("table6", "table7"):
            for i, column in enumerate(tables[table]["columns"]):
                value = printed(tables[table], roles[data], i).get(("", names[name]))
                if value is None or value != value:
                    continue
                found = preset[column]
                assert (",".join(map(str, found)) if column == "hidden" else found) == value
                seen += 1
    assert seen == 3 * (4 * 3 + 1) + 3 * 2 * 4
    assert rw.NeuralRanker.preset("dnn", "yahoo", epochs=3).epochs == 3


def test_schedules_begin_at_the_learning_rate_and_go_down():
    for name, factor in SCHEDULES.items():
        curve = [factor(i / 10) for i in range(10)]
        assert curve[0] == 1 and all(0 < v <= 1 for v in curve)
        assert (np.diff(curve) <= 0).all() and (name == "constant" or curve[9] < 0.15)


def test_a_schedule_and_an_optimiser_matter(train):
    scores = [
        small(epochs=3, **how).fit(train).predict(train)
        for how in (
            {},
            {"schedule": "cosine"},
            {"optimizer": "adagrad"},
            {"clip": 0.01},
            {"weight_decay": 0.5},
        )
    ]
    for i, one in enumerate(scores):
        assert all(not np.array_equal(one, other) for other in scores[:i])


def test_every_parameter_is_documented():
    doc = inspect.getdoc(rw.NeuralRanker)
    for name in rw.NeuralRanker._defaults():
        assert re.search(rf"^(\w+, )*{name}(, \w+)*( :|$)", doc, re.MULTILINE), name


def test_a_callers_inference_mode_changes_nothing(train):
    with torch.inference_mode():
        inside = small(epochs=2).fit(train)
    outside = small(epochs=2).fit(train)
    for name, weights in outside.model_.weights.items():
        assert weights.tobytes() == inside.model_.weights[name].tobytes(), name
