"""What every part must do, over the verb tables."""

import inspect
from dataclasses import FrozenInstanceError, fields
from typing import Annotated, Any

import numpy as np
import pytest

import rankwood as rw
from rankwood import testing
from rankwood._core.compile import jit
from rankwood._core.parts import PARTS, lower, named_record
from rankwood._core.records import Unmoved, lend, reorder
from rankwood._core.verbs import VERBS
from rankwood.extend import Can, OneOf, as_type_of, document, documents, part, verb
from rankwood.metrics.additive import Gains
from rankwood.objectives import All, ByDistance, Lambda, Logistic, Top, Uniform
from rankwood.objectives._kernels.records import Doc, PairDerivatives
from rankwood.objectives._kernels.verbs import (
    embed,
    factors,
    largest_score,
    look_up,
    pair_derivatives,
    prepare,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.lifted import Bivariate
from small_losses import OF_SCORES

OWN = [cls for cls in PARTS.values() if cls.__module__.startswith("rankwood.")]
COMPOSED = [cls for cls in OWN if "._kernels." not in cls.__module__]  # the others are steps
LOSSES = [cls() for cls in OWN if pair_derivatives.verb.able(cls)]


@pytest.mark.parametrize("cls", OWN, ids=lambda c: c.__name__)
def test_parts_are_values(cls):
    one, two = cls(), cls()
    assert one == two and hash(one) == hash(two)
    assert repr(one) == f"{cls.__name__}()"
    if fields(cls):
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(cls)[0].name, 1)
    able = any(v.able(cls) for v in VERBS.values())
    assert able or cls in (Lambda, Bivariate) or cls.__name__.endswith("Steps")
    assert cls.__doc__ and cls.__doc__.strip()[0].isupper()


@pytest.mark.parametrize("cls", OWN, ids=lambda c: c.__name__)
def test_cutoffs_and_numbers_are_checked(cls):
    for f in fields(cls):
        if f.type in (int, int | None):
            for bad in (0, -1, 2.5, True, "3"):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be"):
                    cls(**{f.name: bad})
        elif f.type is float or getattr(f.type, "__origin__", None) is float:
            for bad in (float("nan"), float("inf"), "x", None):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be"):
                    cls(**{f.name: bad})
        elif f.type is Any:  # an objective, of one kind or the other
            with pytest.raises(
                rw.InputError, match=f"{cls.__name__}.{f.name} must be an objective"
            ):
                cls(**{f.name: All()})
        elif f.type is bool or isinstance(f.type.__metadata__[0], OneOf):
            for bad in (2, "other", None):
                with pytest.raises(rw.InputError, match=f"{cls.__name__}.{f.name} must be one of"):
                    cls(**{f.name: bad})
        else:
            able = f.type.__metadata__[0]
            other = next(x for x in (All(), Logistic()) if not able._able(x))
            with pytest.raises(rw.InputError, match="must be a part that can"):
                cls(**{f.name: other})


@pytest.mark.parametrize("cls", COMPOSED, ids=lambda c: c.__name__)
def test_every_part_passes_the_check_for_strangers(cls):
    testing.check_part(cls(), compiled=False)


def doc(label, score, embedded):
    return Doc(label, score, embedded, 0.0, (), 0.0, 0.0, 0.0)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives(loss):
    raw = lower(loss)
    push, curve = factors(raw)
    for d in (-30.0, -2.0, -0.1, 0.0, 0.4, 3.0, 25.0):
        x, y = (
            doc(1.0, d / 2, embed(raw, d / 2)),
            doc(0.0, -d / 2, embed(raw, -d / 2)),
        )
        above, below, bend = pair_derivatives(raw, x, y)
        e = 1e-5
        slope = (loss.loss(d + e) - loss.loss(d - e)) / (2 * e)
        assert -push * above == pytest.approx(slope, abs=1e-8)
        assert -push * below == pytest.approx(
            (loss.loss(-d + e) - loss.loss(-d - e)) / (2 * e), abs=1e-8
        )
        second = (loss.loss(d + 1e-3) - 2 * loss.loss(d) + loss.loss(d - 1e-3)) / 1e-6
        assert curve * bend == pytest.approx(second, abs=1e-6)
    edge = largest_score(raw)
    ends = [doc(1.0, s, embed(raw, s)) for s in (edge, 0.0, -edge)]
    for x in ends:
        for y in ends:
            assert np.isfinite(pair_derivatives(raw, x, y)).all()
    assert pair_derivatives(raw, ends[0], ends[1])[0] < 1e-30  # nothing is lost beyond it


@pytest.mark.parametrize("name", OBJECTIVES)
def test_named_objectives(name):
    known = inspect.signature(OBJECTIVES[name]).parameters
    built = rw.objective(name, **({"k": 7} if "k" in known else {}))
    assert rw.objective(repr(built)) == built
    assert (
        OBJECTIVES[name].__doc__.split("\n")[0].endswith("].")
    )  # a citation ends the first sentence


def test_a_wrong_signature_fails_at_once():
    with pytest.raises(TypeError, match=r"Bad.weight\(self, i\) must take \(self, a, b\)"):

        @part
        class Bad:
            def weight(self, i):
                return 1.0


def test_a_part_typed_in_is_named_by_what_it_does():
    def make(constant):
        scope = {"part": part, "__name__": "elsewhere"}
        exec(
            f"@part\nclass Typed:\n    def weight(self, a, b):\n        return {constant}",
            scope,
        )
        del PARTS["Typed"]
        return scope["Typed"].Lowered.__name__

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


@jit
def third_document(record):
    return document(lend(record), 3)


@jit
def middle_documents(record, out):
    inside = documents(record, 1, 3)
    out[0], out[1], out[2] = inside[0].size, inside[0][0], inside[2].gain[1]


@jit
def move(record, order, spare):
    reorder(record, order, spare)


def make_record():
    table = np.arange(6.0).reshape(2, 3)
    return (np.arange(5.0), 2.5, Gains(np.arange(5.0) * 10, table))


def test_records():
    record = make_record()
    for found in (document(record, 3), third_document(record)):
        assert found[:2] == (3.0, 2.5) and found[2].gain == 30
        assert found[2].discount.tolist() == record[2].discount.tolist()
    inside = documents(record, 1, 3)
    assert inside[0].tolist() == [1.0, 2.0] and inside[2].gain.tolist() == [10, 20]
    out = np.empty(3)
    middle_documents(record, out)
    assert out.tolist() == [2.0, 1.0, 20.0]
    assert type(as_type_of(np.float32(3), 0.1)) is np.float32


@pytest.mark.parametrize("run", [move, reorder], ids=["compiled", "plain"])
def test_reordering_moves_columns_and_nothing_else(run):
    record = (*make_record(), Unmoved(np.arange(5.0)), np.arange(5))
    run(record, np.array([4, 0, 1, 2, 3]), np.empty(5))
    assert record[0].tolist() == [4, 0, 1, 2, 3] and record[2].gain.tolist() == [40, 0, 10, 20, 30]
    assert record[2].discount.tolist() == make_record()[2].discount.tolist()
    assert record[3].column.tolist() == record[4].tolist() == [0, 1, 2, 3, 4]


def test_records_are_made_again_from_their_names():
    one, two = named_record({"a": 1, "b": 2.0}), named_record({"a": 3, "b": 4.0})
    assert type(one) is type(two) and one._fields == ("a", "b")
    assert named_record({}) == ()


@part
class Wrapping:
    """A part around a weight that defines none of its verbs."""

    base: Annotated[Any, Can("weight")] = ByDistance()


def test_a_part_around_another_forwards_every_verb():
    inside = lower(ByDistance())
    around = lower(Wrapping())
    for forwarded in (weight, weight_above, look_up, seen_by, prepare):
        assert forwarded.verb.method(type(around)) is forwarded.verb.forward
        assert forwarded.verb.method(type(inside)) is not forwarded.verb.forward
    y, s = [2, 0, 1, 1, 0, 3], [0.1, 0.5, -0.3, 0.2, 0.2, 0.0]
    with testing.interpreted():
        for found, expected in zip(
            rw.gradients(Lambda(Wrapping()), y, s),
            rw.gradients(Lambda(ByDistance()), y, s),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)
    assert not weight.verb.able(Wrapping) and weight.verb.able(Wrapping())


def test_the_check_for_strangers_finds_what_is_wrong():
    @part
    class WrongSwap:
        """A metric whose swaps are wrong."""

        swap_columns = ("gain",)

        def label_values(self, label, discount, out):
            out[:] = label

        def value(self, ranked, values):
            return values[ranked.slot[0]]

        def swap_record(self, ranked, values, room):
            room.gain[: ranked.slot.size] = values[ranked.slot]
            return room

        def swap_delta(self, a, b):
            return b.own.gain - a.own.gain

    @part
    class OneSided:
        """A weight that depends on which document is the anchor."""

        def weight(self, a, b):
            return 1.0 if a.rank < b.rank else 2.0

    @part
    class Steep:
        """A loss whose slope is not that of its loss."""

        embed, largest_score, factors = OF_SCORES

        def pair_derivatives(self, a, b):
            return PairDerivatives(3.0, 0.0, 0.0)

        def loss(self, difference):
            return difference

    try:
        with pytest.raises(AssertionError, match=r"WrongSwap.*swapping ranks"):
            testing.check_part(WrongSwap(), compiled=False)
        with pytest.raises(AssertionError, match=r"OneSided\(\) of ranks .*, by the anchor"):
            testing.check_part(OneSided(), compiled=False)
        with pytest.raises(AssertionError, match=r"Steep.*push"):
            testing.check_part(Steep(), compiled=False)
        with pytest.raises(rw.InputError, match="check_part takes a part"):
            testing.check_part(Uniform)
    finally:
        for name in ("WrongSwap", "OneSided", "Steep"):
            del PARTS[name]


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
        bird: Annotated[Any, Can("sing")] = Lark()

    try:
        assert sing(lower(Lark()), 3) == 6
        with pytest.raises(
            rw.InputError, match=r"Cage.bird must be a part that can 'sing' \(Lark\), got Top"
        ):
            Cage(Top(1))
    finally:
        del VERBS["sing"], PARTS["Lark"], PARTS["Cage"]
