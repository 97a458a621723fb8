"""For authors of parts: checks that a part keeps the contract of its verbs, and an oracle in plain loops.

`check_part` is what our own parts pass. It needs no test framework; a part that fails raises `AssertionError`.
"""

import math
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import interpreted
from rankwood._kernels.parts import is_part, lower
from rankwood._kernels.records import document
from rankwood._kernels.spec import build
from rankwood._kernels.verbs import VERBS
from rankwood._util import checks
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import group_rows
from rankwood.metrics.ranked import Ranked, discounts
from rankwood.metrics.verbs import label_values, mean_over_ties, swap_delta, swap_record, value
from rankwood.objectives._kernels.plan import LabelledLists, make_plan
from rankwood.objectives._kernels.records import Doc
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import (
    embed,
    factors,
    list_gradient,
    pair_derivatives,
    prepare,
    weight,
)
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.lifted import is_objective
from rankwood.objectives.oracle import oracle_gradients, oracle_pairs, pair_of_documents
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.labels import Binary
from rankwood.objectives.parts.noise import NoNoise
from rankwood.objectives.parts.pairs import Top
from rankwood.objectives.parts.weights import Swap, Uniform
from rankwood.objectives.units import unit_of

__all__ = ["check_part", "interpreted", "oracle_gradients", "oracle_pairs"]


def check_part(part: Any, *, compiled: bool = True, seed: int = 0) -> None:
    """Check a part against the contract of its verbs on random lists.

    A weight, a pair set, a loss or a whole objective is checked inside an objective: the kernel must agree with the
    oracle in plain loops, and the compiled kernel with the interpreted one. A weight must be the same both ways. A
    metric must change by a swap as its `swap_delta` says. Every part must print as Python that makes it again.

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
    if VERBS["weight"].able(part):
        _check_weight(part, rng)
    for objective in _objectives_with(part):
        _check_objective(objective, rng, compiled)


def _check_value(part: Any) -> None:
    name = type(part).__name__
    doc = type(part).__doc__ or ""
    _require(
        doc and not doc.startswith(f"{name}("), f"{name} has no docstring."
    )  # dataclasses write one
    with np.errstate(all="ignore"):
        again = build(repr(part), {}, "part", {})
    same = again == part and hash(again) == hash(part)
    _require(same, f"{part!r} doesn't read back as itself.")


def _require(condition: Any, message: str) -> None:
    """Raise unless a condition holds, also where Python ignores `assert`."""
    if not condition:
        raise AssertionError(message)


def _check_weight(part: Any, rng: np.random.Generator) -> None:
    """Check that a weight is a number of at least 0, and the same whichever document of a pair is the anchor."""
    lowered, n = lower(part), 9
    y, score = rng.integers(0, 2, n).astype(float), -np.arange(float(n))
    ranked = Ranked(n, y, score, np.arange(n), discounts(n + 16))
    with interpreted():
        plan = make_plan(Lambda(part), LabelledLists(y, group_rows(n)), np.float64, 1)
    memory = Memory(n, np.float64, n_labels=n)
    own = prepare(lowered, ranked, plan.values.weight, memory.room(part))
    for i in range(n):
        for j in (j for j in range(i) if y[j] != y[i]):  # others have no pair
            one = weight(lowered, *pair_of_documents(lowered, ranked, own, i, j))
            two = weight(lowered, *pair_of_documents(lowered, ranked, own, j, i))
            where = f"{part!r} of ranks {j} and {i}, labels {y[j]:g} and {y[i]:g}"
            _require(
                math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-12),
                f"{where}: {two:g} or {one:g}, by the anchor.",
            )
            _require(0 <= one < math.inf, f"{where} is {one:g}, expected a number of at least 0.")


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
    if "scale" in able:
        made += [Lambda(Uniform(), scale=part)]
    if "perturb" in able:
        made += [Lambda(Uniform(), Top(3), noise=part, draws=2)]
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
    pairs = GivenPairs.by_labels(y, groups)  # most objectives don't read them
    with interpreted():
        plain = GradientComputer(objective, y, groups, n_jobs=1, pairs=pairs)(s)
    if unit_of(objective) == "documents":
        _check_derivatives(objective, lists, plain, groups.ptr)
    if isinstance(getattr(objective, "noise", None), NoNoise):  # the oracle ranks once
        for q, (labels, scores) in enumerate(lists):
            expected = oracle_gradients(objective, labels, scores, query=q)
            found = tuple(column[groups.ptr[q] : groups.ptr[q + 1]] for column in plain)
            where = f"{objective!r} at labels {labels.tolist()}, scores {scores.tolist()}"
            _require_close(found, expected, where, 1e-9)
    if compiled:
        for real, tolerance in ((np.float64, 1e-9), (np.float32, 1e-3)):
            found = GradientComputer(objective, y, groups, dtype=real, n_jobs=1, pairs=pairs)(s)
            _require_close(found, plain, f"{objective!r}, compiled in {np.dtype(real)}", tolerance)


def _check_derivatives(objective: Any, lists: Any, plain: Any, ptr: np.ndarray) -> None:
    """Check that Hessians are not negative, and the gradients of a list objective with a `loss(label, score)`."""
    _require(plain[1].min() >= 0, f"{objective!r} has a negative Hessian, {plain[1].min():g}.")
    if list_gradient.verb.able(objective) and hasattr(objective, "loss"):
        for q, (labels, scores) in enumerate(lists):
            if np.abs(scores).max() < 10:
                steps = 1e-5 * np.eye(scores.size)
                up = [objective.loss(labels, scores + step) for step in steps]
                down = [objective.loss(labels, scores - step) for step in steps]
                expected = (np.array(up) - np.array(down)) / 2e-5
                worst = np.abs(plain[0][ptr[q] : ptr[q + 1]] - expected).max()
                _require(
                    worst < 1e-5, f"{objective!r}: the gradient is off by {worst:.3g}, by its loss."
                )


def _require_close(found: Any, expected: Any, where: str, tolerance: float) -> None:
    for name, a, b in zip(("gradient", "Hessian"), found, expected, strict=True):
        bound = tolerance * (1.0 + np.abs(b).max(initial=0.0))
        worst = np.abs(a - b).max(initial=0.0)
        _require(worst <= bound, f"the {name} of {where} is off by {worst:.3g}.")


def _check_loss(loss: Any) -> None:
    """Check the derivatives of a loss that has a method `loss(difference)`."""
    lowered = lower(loss)
    by_push, by_hessian = factors(lowered)
    for d in (-20.0, -1.0, 0.0, 0.4, 3.0):
        a, b = (Doc(1.0, x, embed(lowered, x), 0.0, (), 0.0, 0.0, 0.0) for x in (d / 2, -d / 2))
        derivatives, step = pair_derivatives(lowered, a, b), 1e-4
        if not hasattr(loss, "loss"):
            continue
        slope = (loss.loss(d + step) - loss.loss(d - step)) / (2 * step)
        second = (loss.loss(d + step) - 2 * loss.loss(d) + loss.loss(d - step)) / step**2
        at = f"at a difference of {d:g}"
        push = -by_push * derivatives.above
        _require(math.isclose(push, slope, abs_tol=1e-6), f"{loss!r}: push {at}.")
        hessian = by_hessian * derivatives.hessian / _hessian(loss)
        _require(abs(hessian - second) < 1e-4, f"{loss!r}: Hessian {at}.")


def _hessian(loss: Any) -> float:
    """Return the factor that a loss puts on its Hessian on purpose."""
    return getattr(loss, "hessian", 1.0)


def _check_metric(metric: Any, rng: np.random.Generator) -> None:
    """Check that swaps change a metric as it says, and that the mean over no ties is the metric."""
    lowered, n = lower(metric), 7
    for _ in range(4):
        y = rng.integers(0, 4, n).astype(float)
        ranked, values = _ranking(lowered, y)
        now = value(lowered, ranked, values)
        mean = mean_over_ties(lowered, ranked, values)
        same = math.isclose(mean, now, abs_tol=1e-9)
        _require(same, f"{metric!r}: mean_over_ties of a list without ties is not its value.")
        if not VERBS["swap_delta"].able(metric):
            continue
        own = swap_record(lowered, ranked, values, Memory(n, np.float64).room(metric))
        docs = [
            Doc(y[r], -float(r), 0.0, float(r), document(own, r), 0.0, 0.0, 0.0) for r in range(n)
        ]
        for i in range(n):
            for j in range(n):
                swapped = y.copy()
                swapped[[i, j]] = y[[j, i]]
                expected = value(lowered, *_ranking(lowered, swapped)) - now
                found = swap_delta(lowered, docs[i], docs[j])
                _require(
                    math.isclose(found, expected, abs_tol=1e-9),
                    f"{metric!r}: swapping ranks {i} and {j} of the labels {y.tolist()} changes it by {expected:g}, "
                    f"not by {found:g}.",
                )


def _ranking(metric: Any, y: np.ndarray) -> tuple[Ranked, np.ndarray]:
    """Return the ranking of these labels, best ranked first, and the metric's values."""
    values = np.empty(y.size)
    label_values(metric, y, discounts(y.size), values)
    slot = np.arange(y.size)
    return Ranked(y.size, y, -slot.astype(float), slot, discounts(y.size)), values
