"""RankingLoss in training loops: draws, checkpoints, copies, compiled networks, autocast, second derivatives."""

import copy
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="RankingLoss needs PyTorch")

import rankwood as rw  # noqa: E402
from rankwood.testing import interpreted  # noqa: E402
from rankwood.torch import RankingLoss  # noqa: E402
from tests.helpers.torch_lists import SCORES, SIZES, Y, grad_of, leaf  # noqa: E402


def test_draws_anew_in_training_and_stands_still_in_evaluation():
    loss, again = RankingLoss("yetirank@4", seed=5), RankingLoss("yetirank@4", seed=5)
    scores = leaf(SCORES)
    with interpreted():
        first, second = (grad_of(loss, scores, Y, lengths=SIZES) for _ in range(2))
        assert loss.round == 2 and not torch.equal(first, second)
        assert torch.equal(second, grad_of(again, scores, Y, lengths=SIZES, round=1))
        assert again.round == 0
        loss.eval()
        third, fourth = (grad_of(loss, scores, Y, lengths=SIZES) for _ in range(2))
        assert torch.equal(third, fourth) and loss.round == 2
        # A checkpoint goes on where training stopped, and so do copies.
        file = io.BytesIO()
        torch.save(loss.state_dict(), file)
        file.seek(0)
        again.load_state_dict(torch.load(file, weights_only=True))
        assert again.round == 2
        with pytest.raises(rw.InputError, match="round of a saved RankingLoss must be at least 0"):
            copy.deepcopy(again).load_state_dict({"_extra_state": torch.tensor(-1)})
        for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss)), again.eval()):
            assert torch.equal(third, grad_of(other, scores, Y, lengths=SIZES))


def test_replicas_of_a_module_compute_the_same():
    loss = RankingLoss("ranknet")
    with interpreted():
        expected = grad_of(loss, leaf(SCORES), Y, lengths=SIZES)
        replica = loss._replicate_for_data_parallel()  # as DataParallel makes it, for each device
        assert torch.equal(expected, grad_of(replica, leaf(SCORES), Y, lengths=SIZES))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
        )
        self.loss = RankingLoss("ranknet(norm=False)")

    def forward(self, X, y, lengths):
        return self.loss(self.layers(X).squeeze(-1), y, lengths=lengths)


X = torch.tensor(np.random.default_rng(2).normal(size=(12, 3)), dtype=torch.float32)


def train(call, network, steps=25, **kwargs):
    optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
    values = []
    with interpreted():
        for _ in range(steps):
            optimiser.zero_grad()
            value = call(X, Y, SIZES, **kwargs)
            value.backward()
            optimiser.step()
            values.append(float(value.detach()))
    return values


@pytest.mark.slow
def test_a_compiled_network_trains_as_others_do():
    plain, network = Network(), Network()
    expected = train(plain, plain)
    torch._dynamo.reset()
    got = train(torch.compile(network, backend="aot_eager"), network)
    assert expected[-1] < 0.5 * expected[0]
    np.testing.assert_allclose(got, expected, rtol=1e-3)


def test_autocast_computes_in_float32():
    network = Network()
    with interpreted(), torch.autocast("cpu", dtype=torch.bfloat16):
        scores = network.layers(X).squeeze(-1)
        value = network.loss(scores, Y, lengths=SIZES)
    assert scores.dtype == torch.bfloat16 and value.dtype == torch.float32
    with interpreted():
        expected = network.loss(scores.detach().float(), Y, lengths=SIZES)
        assert float(value.detach()) == float(expected)
    value.backward()
    assert all(
        p.grad.dtype == torch.float32 and p.grad.abs().sum() > 0
        for p in network.layers.parameters()
    )


def test_gradients_accumulate_over_batches():
    whole, parts = leaf(SCORES), leaf(SCORES)
    loss = RankingLoss("lambdarank-ndcg@4")
    with interpreted():
        loss(whole, Y, lengths=SIZES).backward()
        loss(parts[:7], Y[:7], lengths=[1, 6]).backward()
        loss(parts[7:], Y[7:], lengths=[5]).backward()
    assert torch.equal(whole.grad, parts.grad)


def test_second_derivatives_are_refused_in_words():
    scores = leaf(SCORES)
    with interpreted():
        (first,) = torch.autograd.grad(RankingLoss("softmax")(scores, Y), scores, create_graph=True)
    with pytest.raises(NotImplementedError, match="RankingLoss has first derivatives only"):
        first.square().sum().backward()


def test_without_need_of_a_gradient_there_is_none():
    loss = RankingLoss("softmax")
    with interpreted():
        expected = loss(leaf(SCORES), Y)
        assert expected.grad_fn is not None
        with torch.no_grad():
            assert loss(leaf(SCORES), Y).grad_fn is None
        assert not loss(torch.tensor(SCORES), Y).requires_grad
        assert float(loss(torch.tensor(SCORES), Y)) == float(expected.detach())
