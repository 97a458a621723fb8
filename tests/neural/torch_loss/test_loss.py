"""RankingLoss: its backward pass is our gradient, its value is the loss of that gradient."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="RankingLoss needs PyTorch")

import rankwood as rw  # noqa: E402
from rankwood._kernels.compile.jit import jit  # noqa: E402
from rankwood._kernels.numeric.elementary import minus_log1m  # noqa: E402
from rankwood.data.groups import group_rows  # noqa: E402
from rankwood.extend import part  # noqa: E402
from rankwood.objectives import Logistic  # noqa: E402
from rankwood.objectives.families.registry import OBJECTIVES  # noqa: E402
from rankwood.objectives.gradients import GradientComputer  # noqa: E402
from rankwood.testing import interpreted, oracle_pairs  # noqa: E402
from rankwood.torch import RankingLoss  # noqa: E402
from tests.helpers.torch_lists import SCORES, SIZES, Y, grad_of, leaf  # noqa: E402

DTYPES = {torch.float32: np.float32, torch.float64: np.float64}


def text_of(name, **wanted):
    """Return a name with a cutoff if it takes one, and those of the wanted parameters that it knows."""
    known = {p.name for p in OBJECTIVES[name].parameters}
    given = ", ".join(f"{key}={value}" for key, value in wanted.items() if key in known)
    return name + "@2" * ("k" in known) + f"({given})" * bool(given)


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if name != "ranknet-pairs"])
def test_backward_is_our_gradient_bit_for_bit(name):
    made = rw.objective(text_of(name))
    with interpreted():
        for dtype, real in DTYPES.items():
            scores = leaf(SCORES, dtype)
            loss = RankingLoss(made, seed=3, n_jobs=1)
            got = grad_of(loss, scores, Y, lengths=SIZES, round=2)
            groups = group_rows(12, group=SIZES)
            computer = GradientComputer(made, Y, groups, dtype=real, n_jobs=1, seed=3)
            expected, _ = computer(scores.detach().numpy(), 2)
            assert got.dtype == dtype and np.array_equal(got.numpy(), expected)


# The list is short because each compiles: `python -m benchmarks.torch_bits` compares every name.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, dtypes", [("lambdarank-ndcg@10", DTYPES), ("softmax", [torch.float32])]
)
def test_compiled_too(name, dtypes):
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 90, 40)
    y = rng.integers(0, 5, sizes.sum())
    for dtype in dtypes:
        scores = leaf(rng.normal(size=y.size) * 3, dtype)
        got = grad_of(RankingLoss(name, n_jobs=2), scores, torch.from_numpy(y), lengths=sizes)
        groups, real = group_rows(y.size, group=sizes), DTYPES[dtype]
        computer = GradientComputer(rw.objective(name), y.astype(float), groups, dtype=real)
        assert np.array_equal(got.numpy(), computer(scores.detach().numpy())[0])


def differences(loss, scores, **kwargs):
    """Return the gradient of a loss by finite differences."""
    step, found = 1e-5, []
    for i in range(scores.numel()):
        two = []
        for sign in (1, -1):
            moved = scores.detach().clone()
            moved[i] += sign * step
            two.append(float(loss(moved, Y, lengths=SIZES, round=1, **kwargs)))
        found.append((two[0] - two[1]) / (2 * step))
    return np.array(found)


# Normalised weights depend on scores, and those of XE-NDCG and StochasticRank aren't gradients of a value.
SMOOTH = [
    *("ranknet", "bin-ranknet", "lambdarank-ndcg", "lambdarank-map", "lambdaloss-arp1"),
    *("lambdaloss-ndcg1", "lambdaloss-ndcg++", "lambdagap-x", "lambdagap-x+", "lambdagap-s++"),
    *("lambdamart-ex-random-bin", "yetirank", "yetiloss-err"),
    *("rmse", "queryrmse", "softmax", "listnet", "approxndcg"),
]


@pytest.mark.parametrize("name", SMOOTH)
def test_the_value_has_this_gradient(name):
    loss = RankingLoss(text_of(name, norm=False, sigma=1.3), n_jobs=1)
    scores = leaf(SCORES)
    with interpreted():
        got = grad_of(loss, scores, Y, lengths=SIZES, round=1).numpy()
        assert np.abs(got).max() > 1e-3
        np.testing.assert_allclose(got, differences(loss, scores), atol=2e-8, rtol=1e-6)


@pytest.mark.parametrize("name", ["lambdarank-ndcg@4", "lambdaloss-ndcg++@3", "lambdagap-s+@2"])
def test_the_value_of_normalised_pairs_equals_plain_loops(name):
    made, y, s = rw.objective(name), Y[1:7], SCORES[1:7]
    expected = 0.0
    for one in oracle_pairs(made, y, s):
        up = s[one.row] - s[one.other] if one.push > 0 else s[one.other] - s[one.row]
        expected += abs(one.push) * (1 + np.exp(up)) * np.log1p(np.exp(-up))  # weight times loss
    with interpreted():
        got = RankingLoss(name)(torch.tensor(s), y)
    assert expected > 0.01 and float(got) == pytest.approx(expected, rel=1e-12)


def test_scores_far_apart_have_a_value():
    y, s = [1, 0, 1], [-400.0, 500.0, 499.0]  # beyond what exp can take
    with interpreted():
        got = RankingLoss("ranknet(norm=False)")(torch.tensor(s, dtype=torch.float64), y)
    assert float(got) == pytest.approx(900 + 1 + np.log1p(np.exp(-1.0)), rel=1e-12)


def test_the_value_of_xendcg_is_a_cross_entropy_with_its_targets():
    loss, scores, total = RankingLoss("xendcg"), leaf(SCORES), np.repeat([0, 1, 2], SIZES)
    with interpreted():
        by_score = differences(loss, scores)
    for q in (1, 2):
        y, s = Y[total == q], SCORES[total == q]
        target = np.exp(s - s.max()) / np.exp(s - s.max()).sum() - by_score[total == q]
        assert target.sum() == pytest.approx(1)
        # There is a sum T with 2^y - 1 < t T <= 2^y for all documents.
        assert ((2**y - 1) / target).max() <= (2**y / target).min() * (1 + 1e-6)


def test_the_value_of_stochasticrank_is_minus_the_metric_of_its_rankings():
    loss = RankingLoss("stochasticrank-ndcg@4(noise_scale=1e-9, samples=3)", reduction="none")
    with interpreted():
        got = loss(torch.tensor(SCORES), Y, lengths=SIZES)
        ndcg = rw.evaluate("ndcg@4", Y, SCORES, group=SIZES).per_query["ndcg@4"]
    assert got[0] == 0  # there is nothing to rank
    np.testing.assert_allclose(got[1:], -np.asarray(ndcg)[1:], rtol=1e-12)


@part
class Outwards:
    """Pushes every document away from the middle; it doesn't say of which loss."""

    def list_gradient(self, query, state, room, out):
        for i in range(query.score.size):
            out.gradient[i] = -2.0 * query.score[i]
            out.hessian[i] = 1.0


@part
class Slopes:
    """A loss of pairs that has slopes only."""

    embed, largest_score = Logistic.embed, Logistic.largest_score
    pair_derivatives, factors = Logistic.pair_derivatives, Logistic.factors
    sigma: float = 1.0
    hessian: float = 1.0


@pytest.mark.parametrize(
    "made", [Outwards(), rw.objectives.Lambda(loss=Slopes())], ids=["list", "pairs"]
)
def test_without_a_loss_the_value_is_gradient_times_scores(made):
    scores = leaf(SCORES)
    with interpreted():
        value = RankingLoss(made)(scores, Y, lengths=SIZES)
        value.backward()
        expected, _ = rw.gradients(made, Y, SCORES, group=SIZES)
    assert np.array_equal(scores.grad.numpy(), expected)
    assert float(value.detach()) == pytest.approx(expected @ SCORES, rel=1e-12)


@jit
def _minus_log1m(q):
    return minus_log1m(q)


@pytest.mark.parametrize("real, error", [(np.float32, 1.3e-6), (np.float64, 5e-16)])
def test_the_logarithm_of_a_pair(real, error):
    for q in [0.0, 1e-38, 1e-12, 1e-3, *np.linspace(0.01, 0.5, 50)]:
        exact = -np.log1p(-np.float64(real(q)))
        assert abs(_minus_log1m(real(q)) - exact) <= error * exact
        assert minus_log1m(real(q)) == _minus_log1m(real(q))


def test_the_package_loads_without_pytorch():
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch': raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import rankwood.torch\n"
        "try: rankwood.torch.RankingLoss\n"
        "except rankwood.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "rankwood.torch.RankingLoss needs the package torch: pip install 'rankwood[torch]'.\n"
    )
