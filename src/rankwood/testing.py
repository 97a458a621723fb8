"""For authors of parts: checks that a part keeps the contract of its verbs, and an oracle in plain loops.

`check_part` is what our own parts pass. It needs no test framework; a part that fails raises `AssertionError`.
"""

import math
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.compile import interpreted
from rankwood._core.parts import is_part, lower
from rankwood._core.records import document
from rankwood._core.rng import mix, round_state
from rankwood._core.spec import build
from rankwood._core.verbs import VERBS
from rankwood.data.groups import group_rows
from rankwood.metrics.ranked import Ranked, discounts
from rankwood.metrics.verbs import label_values, mean_over_ties, swap_delta, swap_record, value
from rankwood.objectives._kernels.plan import LabelledLists, make_plan
from rankwood.objectives._kernels.records import Doc, DocBlock, RankIsPlace
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import (
    count_anchors,
    embed,
    factors,
    list_anchors,
    look_up,
    pair_derivatives,
    partners,
    prepare,
    scale,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.lifted import is_objective
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Binary
from rankwood.objectives.parts.pairs import Top
from rankwood.objectives.parts.weights import Swap, Uniform
from rankwood.objectives.units import read_labels

__all__ = ["check_part", "interpreted", "oracle_gradients"]


def oracle_gradients(
    objective: Any, y: Any, scores: Any, *, seed: int = 0, round: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and Hessians of one query by plain loops over its pairs.

    The oracle calls the verbs of the parts, but none of the kernel's steps: documents stay in rank order, nothing is
    padded, and each pair is visited alone.

    Parameters
    ----------
    objective : Lambda
        A pairwise objective without noise.
    y, scores : array
        Labels and scores of the documents of one query.
    seed, round : int
        Where pair sets that draw at random start.

    Returns
    -------
    grad, hess : arrays of float64

    Examples
    --------
    >>> from rankwood.objectives import Lambda, Uniform
    >>> from rankwood.testing import oracle_gradients
    >>> oracle_gradients(Lambda(weight=Uniform()), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """
    scores = checks.vector(scores, "scores")
    y = read_labels(objective, checks.labels(y, scores.size))
    groups = group_rows(scores.size)
    with interpreted():
        plan = make_plan(objective, LabelledLists(y, groups), np.float64, 1)
    slot = np.array(sorted(range(y.size), key=lambda i: (-scores[i], i)))
    score = scores[slot] - (scores.min() + scores.max()) / 2
    ranked = Ranked(y.size, y[slot], score, slot, discounts(y.size + 16))
    state = mix(round_state(seed, round), 0)
    grad, hess, total = np.zeros(y.size), np.zeros(y.size), 0.0
    for i, j, push, size, curve in _pairs(objective, ranked, plan.values, state):
        grad[slot[i]] -= push
        grad[slot[j]] += push
        hess[slot[i]] += curve
        hess[slot[j]] += curve
        total += 2.0 * size
    factor = scale(lower(objective.scale), total)
    return factor * grad, factor * hess


def _pairs(objective: Any, ranked: Ranked, values: Any, state: int) -> Any:
    """Yield ranks i and j of each pair, the push on i, the size of the push, and the curvature."""
    parts, n = lower(objective), ranked.n
    memory = Memory(n, np.float64, n_labels=n)
    own = prepare(parts.weight, ranked, values.weight, memory.room(objective.weight))
    by_push, by_curve = factors(parts.loss)
    for i, j in _pairs_of_ranks(objective.pairs, ranked, values.pairs, state):
        a, b = _documents(parts.weight, ranked, own, i, j)
        half = (ranked.score[i] - ranked.score[j]) / 2
        a = a._replace(embedded=embed(parts.loss, half))
        b = b._replace(embedded=embed(parts.loss, -half))
        slopes = pair_derivatives(parts.loss, a, b)
        if getattr(objective.pairs, "both_directions", False):
            up, down = weight_above(parts.weight, a, b), weight_above(parts.weight, b, a)
        else:
            both = weight(parts.weight, a, b)
            up, down = both * (a.label > b.label), both * (a.label < b.label)
        push = by_push * (up * slopes.above - down * slopes.below)
        size = by_push * (up * slopes.above + down * slopes.below)
        yield i, j, push, size, by_curve * (up + down) * slopes.curve


def _pairs_of_ranks(pairs: Any, ranked: Ranked, values: Any, state: int) -> Any:
    """Yield the ranks of anchor and partner of every pair of a set."""
    n, order, lowered = ranked.n, np.arange(ranked.n), lower(pairs)
    if list_anchors.verb.able(pairs):
        room = Memory(n, np.float64).room(pairs)
        m = list_anchors(lowered, ranked, values, state, room, order)
        others = np.setdiff1d(np.arange(n), order[:m])
        order = np.concatenate([order[:m], others])
    else:
        m = count_anchors(lowered, n)
    for place in range(m):
        start, stop = partners(lowered, place, n)
        for other in range(int(start), min(int(stop), n)):
            yield int(order[place]), int(order[other])


def _documents(weighting: Any, ranked: Ranked, own: Any, i: int, j: int) -> tuple[Doc, Doc]:
    """Return the documents of ranks i and j as the pair loop shows them to a weight."""

    def doc(rank: int, seen: Any) -> Doc:
        return Doc(ranked.label[rank], ranked.score[rank], 0.0, float(rank), seen, 0.0, 0.0, 0.0)

    anchor = doc(i, seen_by(weighting, document(own, i), -1))
    look_up(weighting, own, (anchor,) * 4, DocBlock(j, j + 1, RankIsPlace()))
    return anchor, doc(j, seen_by(weighting, document(own, j), 0))


def check_part(part: Any, *, compiled: bool = True, seed: int = 0) -> None:
    """Check a part against the contract of its verbs on random lists.

    A weight, a pair set, a loss or a whole objective is checked inside an objective: the kernel must agree with the
    oracle in plain loops, and the compiled kernel with the interpreted one. A metric must change by a swap as its
    `swap_delta` says. Every part must print as Python that makes it again.

    Parameters
    ----------
    part : part
        The part, with its fields set.
    compiled : bool
        Whether to compile kernels too, which takes some seconds.
    seed : int
        Seed of the random lists.

    Raises
    ------
    AssertionError
        If the part breaks a contract; the message names it.

    Examples
    --------
    >>> from rankwood.objectives import Top
    >>> from rankwood.testing import check_part
    >>> check_part(Top(3), compiled=False)
    """
    if not is_part(part):
        raise checks.InputError(
            f"check_part takes a part, got {part!r}; decorate its class by @part."
        )
    _check_value(part)
    rng = np.random.default_rng(seed)
    if VERBS["value"].able(part):
        _check_metric(part, rng)
    if VERBS["pair_derivatives"].able(part):
        _check_loss(part)
    for objective in _objectives_with(part):
        _check_objective(objective, rng, compiled)


def _check_value(part: Any) -> None:
    name = type(part).__name__
    assert type(part).__doc__, f"{name} has no docstring."
    with np.errstate(all="ignore"):
        again = build(repr(part), {}, "part", {})
    assert again == part and hash(again) == hash(part), f"{part!r} doesn't read back as itself."


def _objectives_with(part: Any) -> list[Any]:
    """Return objectives that a part is checked in: with grades and two classes, all pairs and some."""
    if is_objective(part):
        return [part]
    able = {name for name, verb in VERBS.items() if verb.able(part)}
    made: list[Any] = []
    if "weight" in able:
        made += [Lambda(part), Lambda(part, Top(3)), Lambda(part, labels=Binary())]
    if "swap_delta" in able:
        made += [Lambda(Swap(part), Top(3))]
    if able & {"count_anchors", "list_anchors"}:
        made += [Lambda(Uniform(), part), Lambda(Uniform(), part, labels=Binary())]
    if "pair_derivatives" in able:
        made += [Lambda(Uniform(), loss=part)]
    if "scale" in able and "perturb" not in able:
        made += [Lambda(Uniform(), scale=part)]
    return made


def _random_lists(rng: np.random.Generator) -> Any:
    """Yield labels and scores of lists of several lengths, with ties, and one with scores far apart."""
    for n in (1, 2, 7, 12, 30):
        yield rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1]).astype(float), rng.normal(size=n).round(1)
    yield rng.choice(3, 15).astype(float), rng.normal(size=15) * 100.0


def _check_objective(objective: Any, rng: np.random.Generator, compiled: bool) -> None:
    lists = list(_random_lists(rng))
    y, s = (np.concatenate(column) for column in zip(*lists, strict=True))
    groups = group_rows(y.size, group=np.array([labels.size for labels, _ in lists]))
    with interpreted():
        plain = GradientComputer(objective, y, groups, n_jobs=1)(s)
    if hasattr(objective, "pairs") and not getattr(objective, "draws", 1) > 1:
        for q, (labels, scores) in enumerate(lists):
            _check_oracle(objective, labels, scores, plain, slice(groups.ptr[q], groups.ptr[q + 1]))
    if compiled:
        for real, tolerance in ((np.float64, 1e-9), (np.float32, 1e-3)):
            found = GradientComputer(objective, y, groups, real=real, n_jobs=1)(s)
            _assert_close(found, plain, f"{objective!r}, compiled in {np.dtype(real)}", tolerance)


def _check_oracle(objective: Any, y: Any, s: Any, plain: Any, rows: slice) -> None:
    if list_anchors.verb.able(objective.pairs) and "random" in repr(objective.pairs):
        return  # the draw of a query depends on its number
    expected = oracle_gradients(objective, y, s)
    found = tuple(column[rows] for column in plain)
    _assert_close(
        found, expected, f"{objective!r} at labels {y.tolist()}, scores {s.tolist()}", 1e-9
    )


def _assert_close(found: Any, expected: Any, where: str, tolerance: float) -> None:
    for name, a, b in zip(("gradient", "Hessian"), found, expected, strict=True):
        bound = tolerance * (1.0 + np.abs(b).max(initial=0.0))
        worst = np.abs(a - b).max(initial=0.0)
        assert worst <= bound, f"the {name} of {where} is off by {worst:.3g}."


def _check_loss(loss: Any) -> None:
    """Check the derivatives of a loss that has a method `loss(difference)`."""
    lowered = lower(loss)
    by_push, by_curve = factors(lowered)
    for d in (-20.0, -1.0, 0.0, 0.4, 3.0):
        a, b = (Doc(1.0, x, embed(lowered, x), 0.0, (), 0.0, 0.0, 0.0) for x in (d / 2, -d / 2))
        slopes, step = pair_derivatives(lowered, a, b), 1e-4
        if not hasattr(loss, "loss"):
            continue
        slope = (loss.loss(d + step) - loss.loss(d - step)) / (2 * step)
        second = (loss.loss(d + step) - 2 * loss.loss(d) + loss.loss(d - step)) / step**2
        at = f"at a difference of {d:g}"
        assert math.isclose(-by_push * slopes.above, slope, abs_tol=1e-6), f"{loss!r}: push {at}."
        assert abs(by_curve * slopes.curve / _hessian(loss) - second) < 1e-4, (
            f"{loss!r}: curvature {at}."
        )


def _hessian(loss: Any) -> float:
    """Return the factor that a loss puts on its curvature on purpose."""
    return getattr(loss, "hessian", 1.0)


def _check_metric(metric: Any, rng: np.random.Generator) -> None:
    """Check that swaps change a metric as it says, and that the mean over no ties is the metric."""
    lowered, n = lower(metric), 7
    for _ in range(4):
        y = rng.integers(0, 4, n).astype(float)
        ranked, values = _ranking(lowered, y)
        now = value(lowered, ranked, values)
        assert math.isclose(mean_over_ties(lowered, ranked, values), now, abs_tol=1e-9), (
            f"{metric!r}: mean_over_ties of a list without ties is not its value."
        )
        if not VERBS["swap_delta"].able(metric):
            continue
        own = swap_record(lowered, ranked, values, Memory(n, np.float64).room(metric))
        for i in range(n):
            for j in range(n):
                swapped = y.copy()
                swapped[[i, j]] = y[[j, i]]
                expected = value(lowered, *_ranking(lowered, swapped)) - now
                a, b = (
                    Doc(y[r], -float(r), 0.0, float(r), document(own, r), 0.0, 0.0, 0.0)
                    for r in (i, j)
                )
                assert math.isclose(swap_delta(lowered, a, b), expected, abs_tol=1e-9), (
                    f"{metric!r}: swapping ranks {i} and {j} of the labels {y.tolist()} changes it by {expected:g}, "
                    f"not by {swap_delta(lowered, a, b):g}."
                )


def _ranking(metric: Any, y: np.ndarray) -> tuple[Ranked, np.ndarray]:
    """Return the ranking of these labels, best ranked first, and the metric's values."""
    values = np.empty(y.size)
    label_values(metric, y, discounts(y.size), values)
    slot = np.arange(y.size)
    return Ranked(y.size, y, -slot.astype(float), slot, discounts(y.size)), values
