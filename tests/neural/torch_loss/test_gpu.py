"""RankingLoss on a GPU, where there is one, beside RankingLoss on the CPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="RankingLoss needs PyTorch")

import rankwood as rw  # noqa: E402
from rankwood.torch import RankingLoss  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

SIZES = [1, 7, 40, 3]
NAMES = ["lambdarank-ndcg@10", "lambdaloss-ndcg++@5", "yetirank", "softmax", "approxndcg"]


def lists(seed=0):
    """Return float32 scores, labels, and a mask of padded lists with some scores in the padding."""
    rng = np.random.default_rng(seed)
    mask = np.arange(max(SIZES)) < np.array(SIZES)[:, None]
    return rng.normal(size=mask.shape).astype(np.float32), rng.integers(0, 4, mask.shape), mask


def loss_and_gradient(device, name, boxed=False, reduction="sum", dtype=torch.float32, **given):
    """Return losses and the gradient of their sum, on the host."""
    scores, labels, mask = lists()
    if not boxed:
        scores, labels = scores[mask], labels[mask]
    leaf = torch.tensor(scores, device=device, dtype=dtype, requires_grad=True)
    where = {"mask": torch.tensor(mask, device=device)} if boxed else {"lengths": SIZES}
    loss = RankingLoss(name, reduction=reduction, seed=5)
    found = loss(leaf, torch.tensor(labels, device=device), **where, **given)
    assert found.device == leaf.device and found.dtype == dtype
    found.sum().backward()
    assert leaf.grad.device == leaf.device
    return found.detach().cpu().numpy(), leaf.grad.cpu().numpy()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("boxed", [False, True], ids=["flat", "padded"])
@pytest.mark.parametrize("reduction", ["sum", "mean", "none"])
def test_the_gpu_has_the_losses_and_gradients_of_the_cpu(name, boxed, reduction):
    given = {"boxed": boxed, "reduction": reduction, "weight": [1.0, 0.5, 2.0, 3.0], "round": 4}
    found, grad = loss_and_gradient("cuda", name, **given)
    wanted, expected = loss_and_gradient("cpu", name, **given)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(grad, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_double_precision_is_ranked_in_double_precision():
    found, grad = loss_and_gradient("cuda", NAMES[0], dtype=torch.float64)
    wanted, expected = loss_and_gradient("cpu", NAMES[0], dtype=torch.float64)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(grad, expected, atol=1e-5 * np.abs(expected).max())


def test_another_stream_and_half_precision():
    scores, labels, mask = lists()
    wanted, expected = loss_and_gradient("cuda", NAMES[0])
    loss, stream = RankingLoss(NAMES[0], seed=5), torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(stream):
            leaf = torch.tensor(scores[mask], device="cuda", requires_grad=True)
            with torch.autocast("cuda", torch.bfloat16):
                found = loss(leaf, labels[mask], lengths=SIZES, round=0)
            found.backward()
        stream.synchronize()
        assert found.item() == wanted
        assert np.array_equal(leaf.grad.cpu().numpy(), expected)


def test_a_network_trains_and_second_derivatives_are_refused():
    torch.manual_seed(0)
    X, labels = torch.randn(60, 5, device="cuda"), torch.arange(60, device="cuda") % 3
    X[:, 0] += labels
    network, loss = (
        torch.nn.Linear(5, 1).cuda(),
        RankingLoss("lambdarank-ndcg@10", reduction="mean"),
    )
    optimiser = torch.optim.SGD(network.parameters(), 0.5)
    before = loss(network(X)[:, 0], labels, lengths=[20, 20, 20]).item()
    for _ in range(50):
        optimiser.zero_grad()
        loss(network(X)[:, 0], labels, lengths=[20, 20, 20]).backward()
        optimiser.step()
    assert loss(network(X)[:, 0], labels, lengths=[20, 20, 20]).item() < before
    leaf = torch.randn(20, device="cuda", requires_grad=True)
    (slope,) = torch.autograd.grad(loss(leaf, labels[:20]), leaf, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        slope.sum().backward()


def test_scores_that_are_not_finite_are_an_error():
    with pytest.raises(rw.InputError, match="finite"):
        RankingLoss("softmax")(torch.tensor([1.0, torch.nan], device="cuda"), [1, 0])
