"""Networks: forward passes against plain loops, symmetries, padding, and numbers of parameters."""

import numpy as np
import pytest
import torch

from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.neural.architectures.lists import Lists, fixed_orders, random_orders
from rankwood.neural.architectures.table import ARCHITECTURES, build
from tests.oracles import naive_networks as naive

CPU = torch.device("cpu")
FEATURES = 3
LENGTHS = np.array([4, 1, 6, 2])
TOWER = {"hidden": (5, 4), "dropout": 0.3}
ATTENTION = {"layers": 2, "heads": 2, "attention_dropout": 0.2}
#: Networks by a name for the test: architecture, and parameters that aren't the default.
NETWORKS = {
    "dnn": ("dnn", TOWER),
    "dnn, inputs normalised": ("dnn", {**TOWER, "input_norm": True}),
    "dnn, not normalised": ("dnn", {**TOWER, "batch_norm": False}),
    "gsf(2)": ("gsf", TOWER),
    "gsf(2), differences": ("gsf", {**TOWER, "differences": True}),
    "gsf(5)": ("gsf", {**TOWER, "group_size": 5}),
    "attn-din": ("attn-din", {**TOWER, **ATTENTION, "size": 3}),
    "setrank": ("setrank", {**ATTENTION, "size": 4}),
    "setrank, induced": ("setrank", {**ATTENTION, "size": 4, "inducing": 3}),
}
EQUIVARIANT = [name for name in NETWORKS if "gsf" not in name]


def made(name, seed=0):
    """Return a network in evaluation mode with weights of all kinds, in float64."""
    architecture, params = NETWORKS[name]
    torch.manual_seed(seed)
    network = build(architecture, FEATURES, {**NeuralRanker._defaults(), **params}).double()
    with torch.no_grad():
        for key, value in network.state_dict().items():
            if value.is_floating_point():
                noise = torch.randn_like(value) * 0.5
                value.copy_(noise.abs() + 0.5 if key.endswith("running_var") else noise)
    return network.eval()


def scores(network, documents, lengths=LENGTHS, orders=None):
    if orders is None:
        orders = (np.arange(int(lengths.sum())),)
    with torch.no_grad():
        rows = torch.from_numpy(np.ascontiguousarray(documents))
        return network(rows, Lists(np.asarray(lengths), CPU, orders)).numpy()


def expected(name, w, documents):
    """Return the scores of one list by plain loops."""
    params = {**NeuralRanker._defaults(), **NETWORKS[name][1]}
    layers, heads = params["layers"], params["heads"]
    if name.startswith("dnn"):
        options = {"norm": params["batch_norm"], "input_norm": params["input_norm"]}
        return naive.dnn(w, documents, 2, **options)
    if name.startswith("gsf"):
        order = list(range(len(documents)))
        return naive.gsf(w, documents, 2, params["group_size"], order, params["differences"])
    if name == "attn-din":
        return naive.attn_din(w, documents, 2, layers, heads)
    return naive.setrank(w, documents, layers, heads, params["inducing"] is not None)


@pytest.mark.parametrize("name", NETWORKS)
def test_scores_are_those_of_plain_loops(name, rng):
    network = made(name)
    documents = rng.normal(size=(LENGTHS.sum(), FEATURES))
    weights = {key: value.numpy() for key, value in network.state_dict().items()}
    lists = np.split(documents, np.cumsum(LENGTHS)[:-1])
    wanted = np.concatenate([expected(name, weights, one) for one in lists])
    np.testing.assert_allclose(scores(network, documents), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_another_order_of_the_documents_gives_the_same_scores_in_that_order(name, rng):
    network, documents = made(name), rng.normal(size=(7, FEATURES))
    order = rng.permutation(7)
    one = np.array([7])
    np.testing.assert_allclose(
        scores(network, documents[order], one), scores(network, documents, one)[order], rtol=1e-9
    )


def test_gsf_depends_on_the_order_and_is_symmetric_in_the_mean_over_all(rng):
    """Over all orders, the mean score of a document doesn't depend on where it stands."""
    from itertools import permutations

    network, documents, one = made("gsf(2)"), rng.normal(size=(4, FEATURES)), np.array([4])
    turned = documents[[2, 0, 3, 1]]
    assert not np.allclose(
        scores(network, turned, one), scores(network, documents, one)[[2, 0, 3, 1]]
    )
    every = tuple(np.array(p) for p in permutations(range(4)))
    np.testing.assert_allclose(
        scores(network, turned, one, every),
        scores(network, documents, one, every)[[2, 0, 3, 1]],
        rtol=1e-9,
    )


def test_gsf_of_an_order_is_that_of_the_shuffled_list(rng):
    network, documents = made("gsf(5)"), rng.normal(size=(LENGTHS.sum(), FEATURES))
    (order,) = random_orders(LENGTHS, rng, 1)
    weights = {key: value.numpy() for key, value in network.state_dict().items()}
    ends = np.cumsum(LENGTHS)
    wanted = [
        naive.gsf(weights, documents[end - n : end], 2, 5, order[end - n : end] - (end - n))
        for n, end in zip(LENGTHS, ends, strict=True)
    ]
    np.testing.assert_allclose(
        scores(network, documents, orders=(order,)), np.concatenate(wanted), rtol=1e-10
    )


def test_orders_shuffle_lists_and_depend_on_their_own_length_only(rng):
    for orders in (random_orders(LENGTHS, rng, 2), fixed_orders(LENGTHS, 6, 3, 2)):
        for order in orders:
            for part, end, n in zip(
                np.split(order, np.cumsum(LENGTHS)[:-1]), np.cumsum(LENGTHS), LENGTHS, strict=True
            ):
                assert sorted(part) == list(range(end - n, end))
    alone = fixed_orders(np.array([6]), 9, 3, 2)
    together = fixed_orders(LENGTHS, 6, 3, 2)
    for one, all_ in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, all_[5:11] - 5)


@pytest.mark.parametrize("name", NETWORKS)
def test_padding_changes_no_score(name, rng):
    """A list has the same scores alone and beside longer ones."""
    network, documents = made(name), rng.normal(size=(LENGTHS.sum(), FEATURES))
    together = np.split(scores(network, documents), np.cumsum(LENGTHS)[:-1])
    for n, own, found in zip(
        LENGTHS, np.split(documents, np.cumsum(LENGTHS)[:-1]), together, strict=True
    ):
        np.testing.assert_allclose(
            scores(network, own, np.array([n])), found, rtol=1e-9, atol=1e-12
        )


def test_padded_cells_are_zero_and_come_back(rng):
    lists = Lists(LENGTHS, CPU)
    rows = torch.from_numpy(rng.normal(size=(13, 2)))
    padded = lists.pad(rows)
    assert padded.shape == (4, 6, 2)
    assert (padded[~lists.mask] == 0).all()
    assert lists.mask.sum() == 13
    assert torch.equal(lists.flatten(padded), rows)


def tower_size(inputs, hidden, outputs, norm=True, input_norm=False):
    sizes = [inputs, *hidden]
    dense = sum((a + 1) * b for a, b in zip(sizes, [*hidden, outputs], strict=True))
    return dense + 2 * norm * sum(hidden) + 2 * input_norm * inputs


def attention_size(s):
    """Three projections, two layer normalisations, and a feed-forward part of 4 s units."""
    return 3 * (s * s + s) + 2 * 2 * s + (s * 4 * s + 4 * s) + (4 * s * s + s)


F = FEATURES
DIN = 2 * (3 * (3 * 6 + 6) + (6 * 3 + 3) + 2 * 3)
SETRANK = (F * 16 + 16 + 2 * 16) + (16 * 4 + 4 + 2 * 4) + (4 + 1)
COUNTS = {
    "dnn": tower_size(F, (5, 4), 1),
    "dnn, inputs normalised": tower_size(F, (5, 4), 1, input_norm=True),
    "dnn, not normalised": tower_size(F, (5, 4), 1, norm=False),
    "gsf(2)": tower_size(2 * F, (5, 4), 2),
    "gsf(2), differences": tower_size(3 * F, (5, 4), 2),
    "gsf(5)": tower_size(5 * F, (5, 4), 5),
    "attn-din": (F + 1) * 3 + DIN + tower_size(F + 3, (5, 4), 1),
    "setrank": SETRANK + 2 * attention_size(4),
    "setrank, induced": SETRANK + 2 * (2 * attention_size(4) + 3 * 4),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_of_parameters(name):
    assert sum(p.numel() for p in made(name).parameters()) == COUNTS[name]


def test_every_architecture_is_tested():
    assert {architecture for architecture, _ in NETWORKS.values()} == set(ARCHITECTURES)


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_and_batch_statistics_are_of_training_only(name, rng):
    network, documents = made(name), rng.normal(size=(LENGTHS.sum(), FEATURES))
    still = scores(network, documents)
    np.testing.assert_array_equal(scores(network, documents), still)
    network.train()
    assert not np.allclose(scores(network, documents), still)
