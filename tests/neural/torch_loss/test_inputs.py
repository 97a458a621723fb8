"""What a RankingLoss is called with: queries in every form, reductions, weights, edges and errors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="RankingLoss needs PyTorch")

import rankwood as rw  # noqa: E402
from rankwood.testing import interpreted  # noqa: E402
from rankwood.torch import RankingLoss  # noqa: E402

SIZES = [2, 4, 3]
Y = np.array([1.0, 0, 2, 0, 1, 0, 0, 0, 1])
SCORES = np.array([0.3, -0.1, -0.7, 1.9, 0.4, 0.8, -1.1, 0.2, 0.6])
NAME = "lambdarank-ndcg@3"


@pytest.fixture(autouse=True)
def plain_python():
    with interpreted():
        yield


def leaf(values=SCORES):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def padded(values, fill):
    out = np.full((3, 4), fill)
    for row, part in enumerate(np.split(values, np.cumsum(SIZES)[:-1])):
        out[row, : part.size] = part
    return out


MASK = np.arange(4) < np.array(SIZES)[:, None]
ORDER = np.random.default_rng(1).permutation(9)  # rows of a query need not be adjacent


def forms():
    """Scores, labels, arguments, and how the gradient is read as that of flat scores, in each form of a batch."""
    flat = lambda grad: grad  # noqa: E731
    boxed = lambda grad: grad[torch.from_numpy(MASK)]  # noqa: E731
    qid = np.repeat([7, 3, 5], SIZES)
    sort = np.argsort(ORDER)
    yield "lengths", SCORES, Y, {"lengths": SIZES}, flat
    yield "lengths, tensor", SCORES, Y, {"lengths": torch.tensor(SIZES, dtype=torch.int32)}, flat
    yield "qid", SCORES, Y, {"qid": torch.from_numpy(qid)}, flat
    yield "qid, words", SCORES, Y, {"qid": [f"q{x}" for x in qid]}, flat
    unsorted = {"qid": torch.from_numpy(qid[ORDER])}
    yield "qid, unsorted", SCORES[ORDER], Y[ORDER], unsorted, lambda grad: grad[sort]
    # Padding may hold anything.
    yield "mask", padded(SCORES, np.nan), padded(Y, -1), {"mask": torch.from_numpy(MASK)}, boxed
    yield "padded lengths", padded(SCORES, 1e9), padded(Y, 4), {"lengths": SIZES}, boxed


@pytest.mark.parametrize("form", list(forms()), ids=lambda form: form[0])
def test_every_form_of_a_batch_is_the_same(form):
    _, scores, labels, where, read = form
    tensor = leaf(scores)
    value = RankingLoss(NAME)(tensor, torch.from_numpy(labels), **where)
    value.backward()
    expected, _ = rw.gradients(NAME, Y, SCORES, group=SIZES)
    # In another order ties of rounding may fall otherwise.
    np.testing.assert_allclose(read(tensor.grad).numpy(), expected, rtol=1e-12, atol=1e-15)
    assert float(tensor.grad.sum()) == pytest.approx(0, abs=1e-12)  # padding has no gradient
    assert float(value.detach()) == pytest.approx(
        float(RankingLoss(NAME)(torch.tensor(SCORES), Y, lengths=SIZES))
    )


def test_a_matrix_without_padding_needs_no_more():
    scores, y = torch.tensor(SCORES[:8]), Y[:8]
    got = RankingLoss(NAME)(scores.view(2, 4), y.reshape(2, 4))
    assert torch.equal(got, RankingLoss(NAME)(scores, y, lengths=[4, 4]))


def test_the_memory_of_tensors_is_only_read():
    tensors = [torch.tensor(SCORES), torch.tensor(Y), torch.tensor(SIZES)]
    before = [t.clone() for t in tensors]
    scores = tensors[0].requires_grad_()
    RankingLoss("yetirank@3")(scores, tensors[1], lengths=tensors[2]).backward()
    assert all(torch.equal(a.detach(), b) for a, b in zip(tensors, before, strict=True))


def test_scores_are_not_copied(monkeypatch):
    from rankwood.objectives.batches import BatchComputer

    seen, call = [], BatchComputer.__call__
    monkeypatch.setattr(
        BatchComputer, "__call__", lambda *args: seen.append(args[2]) or call(*args)
    )
    for dtype in (torch.float32, torch.float64):
        scores = torch.tensor(SCORES, dtype=dtype, requires_grad=True)
        RankingLoss("softmax")(scores, Y)
        assert seen[-1].ctypes.data == scores.data_ptr()


def test_reductions():
    made = {r: RankingLoss(NAME, reduction=r) for r in ("sum", "mean", "none")}
    parts = (np.split(x, np.cumsum(SIZES)[:-1]) for x in (SCORES, Y))
    alone = [float(RankingLoss(NAME)(torch.tensor(s), y)) for s, y in zip(*parts, strict=True)]
    got = {r: loss(torch.tensor(SCORES), Y, lengths=SIZES) for r, loss in made.items()}
    assert got["none"].tolist() == pytest.approx(alone)
    assert float(got["sum"]) == pytest.approx(sum(alone))
    assert float(got["mean"]) == pytest.approx(sum(alone) / 3)


FACTORS = torch.tensor([2.0, 0.0, -0.5], dtype=torch.float64)


@pytest.mark.parametrize(
    "reduction, after, factors",
    [
        ("sum", lambda value: -7 * value, [-7, -7, -7]),
        ("mean", lambda value: 6 * value, [2, 2, 2]),
        ("none", lambda value: value @ FACTORS, FACTORS.tolist()),
    ],
)
def test_what_comes_after_the_loss_multiplies_the_gradient(reduction, after, factors):
    scores = leaf()
    after(RankingLoss(NAME, reduction=reduction)(scores, Y, lengths=SIZES)).backward()
    expected, _ = rw.gradients(NAME, Y, SCORES, group=SIZES)
    np.testing.assert_allclose(scores.grad, expected * np.repeat(factors, SIZES), rtol=1e-12)


def test_weights_are_factors_on_queries():
    weight = np.array([0.5, 0.0, 3.0])
    for given in (weight, torch.from_numpy(weight), weight.tolist()):
        scores = leaf()
        value = RankingLoss(NAME, reduction="none")(scores, Y, lengths=SIZES, weight=given)
        value.sum().backward()
        each = RankingLoss(NAME, reduction="none")(leaf(), Y, lengths=SIZES)
        np.testing.assert_allclose(value.detach(), each.detach() * torch.from_numpy(weight))
        expected, _ = rw.gradients(NAME, Y, SCORES, group=SIZES)
        assert np.array_equal(scores.grad.numpy(), expected * np.repeat(weight, SIZES))


@pytest.mark.parametrize("name", [NAME, "softmax", "yetirank", "stochasticrank-ndcg", "approxndcg"])
def test_nothing_to_rank_has_no_loss_and_no_gradient(name):
    scores = leaf(np.arange(6.0))
    loss = RankingLoss(name, reduction="none")
    # An empty query, one document, no relevant document, another empty one.
    value = loss(scores, [2, 0, 0, 0, 0, 0], lengths=[0, 1, 5, 0])
    value.sum().backward()
    assert value.tolist() == [0, 0, 0, 0] and scores.grad.tolist() == [0] * 6
    nothing = leaf(np.zeros(0))
    for reduction in ("sum", "mean"):
        value = RankingLoss(name, reduction=reduction)(nothing, [], lengths=[0, 0])
        value.backward()
        assert float(value.detach()) == 0 and nothing.grad.shape == (0,)


def test_empty_queries_take_their_place():
    scores = leaf()
    loss = RankingLoss(NAME, reduction="none")
    lengths, weight = [0, 2, 0, 4, 3, 0], [9, 1, 9, 2, 1, 9]
    value = loss(scores, Y, lengths=lengths, weight=weight)
    each = loss(leaf(), Y, lengths=SIZES).detach() * torch.tensor([1, 2, 1])
    np.testing.assert_allclose(value.detach(), [0, each[0], 0, each[1], each[2], 0])
    mean = RankingLoss(NAME, reduction="mean")(torch.tensor(SCORES), Y, lengths=lengths)
    assert float(mean) == pytest.approx(
        float(RankingLoss(NAME, reduction="mean")(torch.tensor(SCORES), Y, lengths=SIZES))
    )


@pytest.mark.parametrize("reduction", ["sum", "mean", "none"])
def test_a_batch_without_documents_goes_backward(reduction):
    loss = RankingLoss(NAME, reduction=reduction)
    scores = leaf(np.zeros((2, 3)))
    value = loss(scores, np.zeros((2, 3)), mask=np.zeros((2, 3), bool))
    assert value.tolist() == ([0.0, 0.0] if reduction == "none" else 0.0)
    value.sum().backward()
    assert scores.grad.tolist() == [[0.0] * 3] * 2
    nothing = leaf([])
    loss(nothing, [], lengths=[]).sum().backward()
    assert nothing.grad.shape == (0,)


def test_labels_weights_and_ids_in_half_precision():
    expected, found = leaf(), leaf()
    RankingLoss(NAME)(expected, Y, lengths=SIZES, weight=[1, 2, 0.5]).backward()
    qid = torch.tensor(np.repeat([1, 2, 3], SIZES)).bfloat16()
    weight = torch.tensor([1, 2, 0.5]).bfloat16()
    RankingLoss(NAME)(found, torch.tensor(Y).bfloat16(), qid, weight=weight).backward()
    assert torch.equal(found.grad, expected.grad)


def test_a_call_that_fails_takes_no_round():
    loss = RankingLoss("yetirank")
    with pytest.raises(rw.InputError):
        loss(leaf(), Y[:3])
    assert loss.round == 0
    loss(leaf(), Y)
    assert loss.round == 1


def with_value(values, row, value):
    out = np.array(values, dtype=float)
    out[row] = value
    return out


NO = {
    "NaN": (
        lambda f: f(leaf(with_value(SCORES, 6, np.nan)), Y, lengths=SIZES),
        r"scores must be finite, got nan in query 2, at row 6; a network that diverges",
    ),
    "infinite": (
        lambda f: f(leaf(with_value(SCORES, 3, np.inf)), Y, qid=["a"] * 2 + ["b"] * 7),
        r"got inf in query 'b', at row 3",
    ),
    "NaN in a matrix": (
        lambda f: f(
            leaf(with_value(padded(SCORES, 0.0), (1, 1), np.nan)), padded(Y, 0.0), lengths=SIZES
        ),
        r"query 1, at row 5",
    ),
    "negative label": (
        lambda f: f(leaf(), with_value(Y, 1, -1), lengths=SIZES),
        r"labels must be finite and not negative, got -1.0 in query 0, at row 1",
    ),
    "NaN label": (
        lambda f: f(leaf(), with_value(Y, 8, np.nan), lengths=SIZES),
        r"got nan in query 2, at row 8",
    ),
    "ragged labels": (
        lambda f: f(leaf(np.zeros((2, 2))), [[1, 0], [1]]),
        "got lists of different lengths: pad them",
    ),
    "mask in half precision": (
        lambda f: f(leaf(np.zeros((1, 2))), [[1, 0]], mask=torch.ones(1, 2).bfloat16()),
        "mask must be a boolean for each score",
    ),
    "qid of no scores": (lambda f: f(leaf([]), [], qid=[1, 2]), "there are no rows"),
    "text labels": (lambda f: f(leaf(SCORES[:2]), ["a", "b"]), "labels must hold numbers"),
    "array": (lambda f: f(SCORES, Y), "scores must be a tensor of floats, got ndarray"),
    "integers": (
        lambda f: f(torch.arange(9), Y),
        "scores must be a tensor of floats, got torch.int64",
    ),
    "column": (lambda f: f(leaf()[:, None, None], Y), r"got shape \(9, 1, 1\); scores.squeeze"),
    "labels too short": (lambda f: f(leaf(), Y[:8]), r"shape of scores, \(9,\), got \(8,\)"),
    "lengths": (
        lambda f: f(leaf(), Y, lengths=[2, 4]),
        "lengths must sum to the number of scores, 9, got 6",
    ),
    "lengths of floats": (
        lambda f: f(leaf(), Y, lengths=[2.5, 6.5]),
        "integers of at least 0, got float64",
    ),
    "two forms": (
        lambda f: f(leaf(), Y, qid=[1] * 9, lengths=[9]),
        "give one of qid, lengths and mask, got qid and lengths",
    ),
    "mask for flat": (lambda f: f(leaf(), Y, mask=np.ones(9, bool)), "mask is for padded scores"),
    "qid for a matrix": (
        lambda f: f(leaf(padded(SCORES, 0.0)), padded(Y, 0.0), qid=[1, 2, 3]),
        "qid is for flat scores",
    ),
    "mask of numbers": (
        lambda f: f(leaf(padded(SCORES, 0.0)), padded(Y, 0.0), mask=MASK.astype(int)),
        r"mask must be a boolean for each score.*got int64",
    ),
    "rows too long": (
        lambda f: f(leaf(padded(SCORES, 0.0)), padded(Y, 0.0), lengths=[2, 5, 3]),
        "each at most 4, got 3 of up to 5",
    ),
    "qid too short": (lambda f: f(leaf(), Y, qid=[1, 2]), "qid has 2 values"),
    "weights": (
        lambda f: f(leaf(), Y, lengths=SIZES, weight=[1, 2]),
        "weight has 2 values, but there are 3 queries",
    ),
    "negative weight": (
        lambda f: f(leaf(), Y, lengths=SIZES, weight=[1, -2, 1]),
        "weight must not be negative, got -2 for query 1",
    ),
    "round": (lambda f: f(leaf(), Y, round=-1), "round must be at least 0"),
    "meta device": (
        lambda f: f(torch.zeros(9, device="meta"), Y),
        "CPU and on GPUs with CUDA, and scores are on 'meta'",
    ),
}


@pytest.mark.parametrize("call, message", NO.values(), ids=NO)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(rw.InputError, match=message):
        call(RankingLoss(NAME))


def test_errors_of_the_constructor():
    for args, message in (
        ({"objective": "lambdarank-ndgc"}, "did you mean 'lambdarank-ndcg'"),
        ({"objective": "bi-ranknet"}, "for scores of documents"),
        ({"objective": NAME, "reduction": "max"}, "reduction must be one of 'sum', 'mean', 'none'"),
        ({"objective": NAME, "seed": -1}, "seed must be at least 0"),
        ({"objective": NAME, "n_jobs": "two"}, "n_jobs must be an integer"),
    ):
        with pytest.raises(rw.InputError, match=message):
            RankingLoss(**args)


def test_it_prints_what_it_is():
    shown = repr(RankingLoss("ranknet(norm=False)", reduction="mean", seed=2))
    assert (
        shown == f"RankingLoss({rw.objective('ranknet(norm=False)')!r}, reduction='mean', seed=2)"
    )
