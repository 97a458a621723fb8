"""What every part must do, over the verb tables."""

import inspect
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

import rankwood as rw
from rankwood._core.jit import PARTS, VERBS, Can, at, copied, cut, like, lower, part, take, verb
from rankwood.metrics.additive import Gains
from rankwood.objectives import All, ByDistance, Lambda, Logistic, Top
from rankwood.objectives._kernels.loop import Doc
from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.families.registry import OBJECTIVES

OWN = [cls for cls in PARTS.values() if cls.__module__.startswith("rankwood.")]
LOSSES = [cls() for cls in OWN if cls.Raw in VERBS["slope"].table]


@pytest.mark.parametrize("cls", OWN, ids=lambda c: c.__name__)
def test_parts_are_values(cls):
    one, two = cls(), cls()
    assert one == two and hash(one) == hash(two)
    assert repr(one) == f"{cls.__name__}()"
    if fields(cls):
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(cls)[0].name, 1)
    assert any(cls.Raw in v.table for v in VERBS.values()) or cls in (Lambda, Bivariate)
    assert cls.__doc__ and cls.__doc__.strip()[0].isupper()


@pytest.mark.parametrize("cls", OWN, ids=lambda c: c.__name__)
def test_cutoffs_and_numbers_are_checked(cls):
    for f in fields(cls):
        if f.type in (int, int | None):
            for bad in (0, -1, 2.5, True, "3"):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be"):
                    cls(**{f.name: bad})
        elif f.type is float:
            for bad in (float("nan"), float("inf"), "x", None):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be"):
                    cls(**{f.name: bad})
        elif f.type is Any:  # an objective, of one kind or the other
            with pytest.raises(
                rw.InputError, match=f"{cls.__name__}.{f.name} must be an objective"
            ):
                cls(**{f.name: All()})
        elif f.type is bool or isinstance(f.type.__metadata__[0], tuple):
            for bad in (2, "other", None):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be one of"):
                    cls(**{f.name: bad})
        else:
            able = VERBS[f.type.__metadata__[0]].table
            other = next(x for x in (All(), Logistic()) if type(x).Raw not in able)
            with pytest.raises(rw.InputError, match="must be a part that can"):
                cls(**{f.name: other})


def doc(label, score, u):
    return Doc(label, score, u, 0.0, (), 0.0, 0.0, 0.0)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives(loss):
    raw = lower(loss)
    push, curve = VERBS["units"](raw)
    for d in (-30.0, -2.0, -0.1, 0.0, 0.4, 3.0, 25.0):
        x, y = (
            doc(1.0, d / 2, VERBS["embed"](raw, d / 2)),
            doc(0.0, -d / 2, VERBS["embed"](raw, -d / 2)),
        )
        above, below, bend = VERBS["slope"](raw, x, y)
        e = 1e-5
        slope = (loss.loss(d + e) - loss.loss(d - e)) / (2 * e)
        assert -push * above == pytest.approx(slope, abs=1e-8)
        assert -push * below == pytest.approx(
            (loss.loss(-d + e) - loss.loss(-d - e)) / (2 * e), abs=1e-8
        )
        second = (loss.loss(d + 1e-3) - 2 * loss.loss(d) + loss.loss(d - 1e-3)) / 1e-6
        assert curve * bend == pytest.approx(second, abs=1e-6)
    edge = VERBS["reach"](raw)
    ends = [doc(1.0, s, VERBS["embed"](raw, s)) for s in (edge, 0.0, -edge)]
    for x in ends:
        for y in ends:
            assert np.isfinite(VERBS["slope"](raw, x, y)).all()
    assert VERBS["slope"](raw, ends[0], ends[1])[0] < 1e-30  # nothing is lost beyond it


@pytest.mark.parametrize("name", OBJECTIVES)
def test_named_objectives(name):
    known = inspect.signature(OBJECTIVES[name]).parameters
    built = rw.objective(name, **({"k": 7} if "k" in known else {}))
    assert rw.objective(repr(built)) == built
    assert (
        OBJECTIVES[name].__doc__.split("\n")[0].endswith("].")
    )  # a citation ends the first sentence


def test_a_wrong_signature_fails_at_once():
    with pytest.raises(TypeError, match=r"Bad.weight\(self, i\) must take \(w, x, y, a, b\)"):

        @part
        class Bad:
            def weight(self, i):
                return 1.0


def test_a_part_typed_in_is_named_by_what_it_does():
    def make(constant):
        scope = {"part": part, "__name__": "elsewhere"}
        exec(
            f"@part\nclass Typed:\n    def weight(self, x, y, a, b):\n        return {constant}",
            scope,
        )
        del PARTS["Typed"]
        return scope["Typed"].Raw.__name__

    assert make(1.0) == make(1.0) != make(2.0)


def test_factors_must_be_positive():
    for bad in (lambda: Logistic(-1.0), lambda: Logistic(0.0), lambda: ByDistance(c=0.0)):
        with pytest.raises(rw.InputError, match="must be positive"):
            bad()


def test_lowering():
    raw = lower(Lambda(pairs=Top(7), loss=Logistic(2.0)), np.float32)
    assert raw.pairs.k == 7
    assert raw.loss.sigma.dtype == np.float32
    assert lower(rw.metric("ndcg")).k > 10**15  # no cutoff


def test_records():
    table = np.arange(6.0).reshape(2, 3)
    record = (np.arange(5.0), 2.5, Gains(np.arange(5) * 10, table))
    assert at(record, 3)[:2] == (3.0, 2.5)
    assert at(record, 3)[2].gain == 30 and at(record, 3)[2].discount is table
    part_ = cut(record, 1, 3)
    assert part_[0].tolist() == [1.0, 2.0] and part_[2].gain.tolist() == [10, 20]
    moved = take(record, np.array([4, 0]))
    assert moved[0].tolist() == [4.0, 0.0] and moved[2].gain.tolist() == [40, 0]
    own = copied(record, 1, 3)
    assert own[2].gain.tolist() == [10, 20] and own[2].gain.base is None
    assert type(like(np.float32(3), 0.1)) is np.float32


def test_a_verb_without_a_default_and_can():
    @verb
    def sing(bird, tune):
        """Sing."""

    @part
    class Lark:
        def sing(self, tune):
            return tune * 2

    @part
    class Cage:
        bird: Can("sing") = Lark()

    try:
        assert sing(lower(Lark()), 3) == 6
        with pytest.raises(
            rw.InputError, match=r"Cage.bird must be a part that can 'sing' \(Lark\), got Top"
        ):
            Cage(Top(1))
    finally:
        del VERBS["sing"], PARTS["Lark"], PARTS["Cage"]
