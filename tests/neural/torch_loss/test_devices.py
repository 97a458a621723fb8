"""What the kernels of a GPU get from a RankingLoss, and what it makes of their answer."""

import sys
from types import ModuleType

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="RankingLoss needs PyTorch")

import rankwood as rw  # noqa: E402
from rankwood.data.groups import group_rows  # noqa: E402
from rankwood.neural.torch_loss import devices  # noqa: E402
from rankwood.objectives.gradients import GradientComputer  # noqa: E402
from rankwood.testing import interpreted  # noqa: E402
from rankwood.torch import RankingLoss  # noqa: E402

SIZES, NAME = [2, 4, 3], "lambdarank-ndcg@3"
Y = np.array([1.0, 0, 2, 0, 1, 0, 0, 0, 1])
SCORES = np.array([0.3, -0.1, -0.7, 1.9, 0.4, 0.8, -1.1, 0.2, 0.6])
MASK = np.arange(4) < np.array(SIZES)[:, None]


@pytest.fixture(autouse=True)
def plain_python():
    with interpreted():
        yield


def padded(values, fill):
    out = np.full((3, 4), fill)
    out[MASK] = values
    return out


class CountedGradients:
    """Stands in for the driver of a GPU: takes flat tensors without padding, returns tensors of float32."""

    made = 0

    def __init__(self, objective, y, groups, *, seed):
        type(self).made += 1
        self.compute = GradientComputer(objective, y, groups, dtype=np.float32, seed=seed, n_jobs=1)

    def __call__(self, scores, round):
        assert scores.shape == (self.compute.groups.rows.size,)
        return tuple(map(torch.from_numpy, self.compute(scores.numpy(), round)))


@pytest.mark.parametrize("name", [NAME, "softmax"])
@pytest.mark.parametrize("boxed", [False, True], ids=["flat", "padded"])
def test_what_a_gpu_gets_and_gives(monkeypatch, name, boxed):
    each = RankingLoss(name, reduction="none")(torch.tensor(SCORES), Y, lengths=SIZES)
    groups = group_rows(9, group=SIZES)
    computer = GradientComputer(rw.objective(name), Y, groups, dtype=np.float32, n_jobs=1)
    expected, _ = computer(SCORES.astype(np.float32))
    module = ModuleType("rankwood.objectives.cuda")
    module.DeviceGradients = CountedGradients
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(devices, "_OnCpu", lambda objective, *_: devices._OnGpu(objective))
    scores, labels = (padded(SCORES, 0.5), padded(Y, -1)) if boxed else (SCORES, Y)
    where = {"mask": MASK} if boxed else {"lengths": SIZES}
    tensor = torch.tensor(scores, dtype=torch.float32, requires_grad=True)
    loss = RankingLoss(name, reduction="none")
    CountedGradients.made = 0
    values = [loss(tensor, labels, **where) for _ in range(3)]
    assert CountedGradients.made == 1  # the same labels went there once
    values[0].sum().backward()
    found = tensor.grad.numpy()
    assert np.array_equal(found[MASK] if boxed else found, expected)
    assert not boxed or not found[~MASK].any()
    assert values[2].tolist() == pytest.approx(each.tolist(), rel=1e-5)
    loss(tensor, labels + 1, **where)
    assert CountedGradients.made == 2


def test_without_kernels_for_a_gpu_a_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "rankwood.objectives.cuda", None)
    with pytest.raises(rw.InputError, match=r"no kernels for it: give scores.cpu\(\)"):
        devices.computer_for(("cuda", torch.float32), rw.objective(NAME), None)
