"""Networks: forward passes against those of the published programs, symmetries, padding, and numbers of parameters."""

import numpy as np
import pytest
import torch

from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.neural.architectures.lists import Lists, fixed_orders, random_orders
from rankwood.neural.architectures.table import ARCHITECTURES, build
from tests.helpers.program_variables import attn_din_of, setrank_of, tower_of
from tests.oracles import naive_networks as naive

CPU = torch.device("cpu")
FEATURES = 3
LENGTHS = np.array([4, 1, 6, 2])
LONGEST = 8  # what programs pad lists to
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


def expected(name, w, documents, order=None):
    """Return the scores of one list by the program, which pads it."""
    params = {**NeuralRanker._defaults(), **NETWORKS[name][1]}
    layers, heads = params["layers"], params["heads"]
    valid = [i < len(documents) for i in range(LONGEST)]
    padded = [list(row) for row in documents] + [[9.0] * FEATURES] * (LONGEST - len(documents))
    if name.startswith("dnn"):
        options = {"batch_norm": params["batch_norm"], "input_norm": params["input_norm"]}
        return naive.dnn(tower_of(w, 2, **options), padded, valid)
    if name.startswith("gsf"):
        order = range(len(documents)) if order is None else order
        size = params["group_size"]
        net = tower_of(w, 2, groups=(size, FEATURES))
        return naive.gsf(net, padded, valid, size, order, params["differences"])
    if name == "attn-din":
        return naive.attn_din(attn_din_of(w, 2, layers, heads), padded, valid)
    return naive.setrank(setrank_of(w, layers, params["inducing"]), padded, valid, heads)


@pytest.mark.parametrize("name", NETWORKS)
def test_scores_are_those_of_the_published_programs(name, rng):
    network = made(name)
    documents = rng.normal(size=(LENGTHS.sum(), FEATURES))
    weights = {key: value.numpy() for key, value in network.state_dict().items()}
    lists = np.split(documents, np.cumsum(LENGTHS)[:-1])
    wanted = np.concatenate([expected(name, weights, one) for one in lists])
    np.testing.assert_allclose(scores(network, documents), wanted, rtol=1e-12, atol=1e-12)


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
        expected("gsf(5)", weights, documents[end - n : end], order[end - n : end] - (end - n))
        for n, end in zip(LENGTHS, ends, strict=True)
    ]
    found = scores(network, documents, orders=(order,))
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-12, atol=1e-12)


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


def attention_size(s, forward=True):
    """Three projections and layer normalisation; the same after a feed-forward part of 4 s units."""
    return 3 * (s * s + s) + 2 * s + forward * ((s * 4 * s + 4 * s) + (4 * s * s + s) + 2 * s)


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
    "setrank, induced": SETRANK
    + 2 * (attention_size(4, forward=False) + attention_size(4) + 3 * 4),
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


def limits(size, heads, inputs, hidden):
    """Return the largest initial weights in Keras by layer: the root of 6 over the sum of both fans."""
    towers = [inputs + size, *hidden, 1]
    found = {"embed.weight": 6 / (inputs + size)}
    for which in ("query", "key", "value"):
        # A kernel of (size, heads, size): the last two are fans, each times the first.
        found[f"attention.0.{which}.weight"] = 6 / (heads * size + size * size)
    found["attention.0.out.weight"] = 6 / (size * heads + size * heads)
    for i in range(len(towers) - 1):
        found[f"tower.layers.{4 * i}.weight"] = 6 / (towers[i] + towers[i + 1])
    return {name: square**0.5 for name, square in found.items()}


def fresh(architecture, inputs, **params):
    torch.manual_seed(3)
    network = build(architecture, inputs, {**NeuralRanker._defaults(), **params})
    return {key: value.numpy() for key, value in network.state_dict().items()}


def is_uniform(weights, limit):
    """Return whether weights have the range, the mean and the variance of a uniform distribution."""
    x = weights.ravel() / limit
    noise = 5 / x.size**0.5
    assert abs(x).max() <= 1
    assert abs(x.mean()) < noise and abs((x**2).mean() - 1 / 3) < noise
    return True


def test_initial_weights_are_those_of_keras():
    """Glorot's distribution, biases of 0, and normalisations that change nothing."""
    size, heads, hidden = 24, 5, (60, 30)
    shape = {"size": size, "heads": heads, "hidden": hidden, "layers": 1}
    w = fresh("attn-din", 40, **shape)
    wanted = limits(size, heads, 40, hidden)
    assert all(is_uniform(w[name], limit) for name, limit in wanted.items())
    for name, value in w.items():
        if name in wanted or "running" in name or "num_batches" in name:
            continue
        scale = name.endswith("norm.weight") or (value.ndim == 1 and name.endswith("weight"))
        assert (value == scale).all(), name


def test_initial_weights_of_setrank_are_those_of_its_program():
    size, points = 24, 50
    w = fresh("setrank", 40, size=size, heads=2, layers=1, inducing=points)
    for name, value in w.items():
        if name.endswith("points"):
            noise = 5 / value.size**0.5
            assert abs(value.mean()) < 0.1 * noise
            assert abs(value.std() / 0.1 - 1) < noise
        elif value.ndim == 2:
            assert is_uniform(value, (6 / sum(value.shape)) ** 0.5), name
        else:
            assert (value == name.endswith("weight")).all(), name
    assert {"embed.0.weight", "blocks.0.gather.key.weight", "score.weight"} <= set(w)


class Noted(torch.nn.Module):
    """In the place of a dropout: keeps what is given to it."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x)
        return x


@pytest.mark.parametrize(
    ("name", "where"),
    [("attn-din", "attention.1"), ("setrank", "blocks.1.attention")],
)
def test_attention_weights_are_dropped(name, where, rng):
    """TF-Ranking drops weights, and what they give; SetRank drops weights."""
    network, noted = made(name), Noted()
    layer = network.get_submodule(where)
    assert layer.dropout.p == ATTENTION["attention_dropout"]
    layer.dropout = noted
    scores(network, rng.normal(size=(LENGTHS.sum(), FEATURES)))
    weights = noted.seen[0].numpy()
    assert weights.shape == (4, ATTENTION["heads"], 6, 6)
    np.testing.assert_allclose(weights.sum(3), 1.0)
    for row, n in zip(weights, LENGTHS, strict=True):
        assert (row[:, :, n:] == 0).all()
    rest = [tuple(x.shape) for x in noted.seen[1:]]
    assert rest == ([(4, 6, 3)] if name == "attn-din" else [])
