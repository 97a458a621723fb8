"""What every part must do, over the verb tables."""

import inspect
from dataclasses import FrozenInstanceError, fields
from typing import Annotated, Any

import numpy as np
import pytest
from numba.core.errors import TypingError

import rankwood as rw
from rankwood import testing
from rankwood._kernels.compile.jit import jit
from rankwood._kernels.parts import PARTS, lower, named_record
from rankwood._kernels.records import Broadcast, LookUpColumn, Table, lend, put, reorder
from rankwood._kernels.verbs import VERBS, verb
from rankwood.extend import Can, OneOf, as_type_of, document, documents, part
from rankwood.metrics.parts.additive import Gains
from rankwood.metrics.parts.dcg import NDCG
from rankwood.objectives import All, ByDistance, Lambda, Logistic, Top, Uniform
from rankwood.objectives._kernels.records import Doc, PairDerivatives
from rankwood.objectives._kernels.rooms import moving_columns
from rankwood.objectives._kernels.scratch import Memory
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
from tests.helpers.small_losses import OF_SCORES

OWN = [cls for cls in PARTS.values() if cls.__module__.startswith("rankwood.")]
# The others are steps, and a wrapper whose Hessians are values of the loss, known once PyTorch's losses are imported.
COMPOSED = [
    cls
    for cls in OWN
    if "._kernels." not in cls.__module__ and cls.__module__ != "rankwood.objectives.valued"
]
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
def put_third(record):
    for column in record:
        put(column, 3, 8.0)


@jit
def move(columns, order, spare):
    reorder(columns, order, spare)


def make_record():
    table = np.arange(6.0).reshape(2, 3)
    return (np.arange(5.0), 2.5, Gains(np.arange(5.0) * 10, Table(table)))


def test_records():
    record = make_record()
    for found in (document(record, 3), third_document(record)):
        assert found[:2] == (3.0, 2.5) and found[2].gain == 30
        assert found[2].discount.values.tolist() == record[2].discount.values.tolist()
    inside = documents(record, 1, 3)
    assert inside[0].tolist() == [1.0, 2.0] and inside[2].gain.tolist() == [10, 20]
    out = np.empty(3)
    middle_documents(record, out)
    assert out.tolist() == [2.0, 1.0, 20.0]
    assert type(as_type_of(np.float32(3), 0.1)) is np.float32


@pytest.mark.parametrize("read", [third_document, lambda record: document(record, 3)])
@pytest.mark.parametrize("write", [put_third, put_third.py_func], ids=["compiled", "plain"])
def test_a_number_may_stand_for_a_column(read, write):
    column, number = LookUpColumn(np.arange(5.0)), Broadcast(np.array([7.0]))
    assert read((column, number)) == (3.0, 7.0)
    write((column,))
    write((number,))
    assert read((column, number)) == (8.0, 8.0)
    assert column.column.tolist() == [0.0, 1.0, 2.0, 8.0, 4.0]
    assert documents((column, number), 1, 3)[1].value.tolist() == [8.0]


def test_a_strided_column_is_no_number():
    strided = np.arange(10.0)[::2]
    assert document((strided,), 3) == (6.0,)
    with pytest.raises(TypingError):
        third_document((strided,))


@part
class AsksForEverything:
    """A part with columns of every kind."""

    metric: Annotated[Any, Can("swap_delta")] = NDCG()
    columns = ("moves",)
    index_columns = ("stays",)
    look_up_columns = ("looked_up",)
    tables_by_label = ("table",)


def test_columns_of_the_kernels_precision_move_with_the_documents():
    part = AsksForEverything()
    room = Memory(5, np.float32, n_labels=3).room(part)
    moving = moving_columns(part, room)
    assert [id(x) for x in moving] == [
        id(room.metric.gain),
        id(room.metric.discount),
        id(room.moves),
    ]
    assert room.stays.dtype == np.int64 and room.table.values.shape[0] == 3
    assert moving_columns(Uniform(), Memory(5, np.float32).room(Uniform())) == ()


@pytest.mark.parametrize("run", [move, reorder], ids=["compiled", "plain"])
def test_reordering_moves_every_column(run):
    columns = (np.arange(5.0), np.arange(5.0) * 10)
    run(columns, np.array([4, 0, 1, 2, 3]), np.empty(5))
    assert columns[0].tolist() == [4, 0, 1, 2, 3] and columns[1].tolist() == [40, 0, 10, 20, 30]
    run((), np.array([4, 0, 1, 2, 3]), np.empty(5))


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


def typed_in(source, **scope):
    """Parts of a program that is no file."""
    scope = {"__name__": "__main__", **scope}
    exec("from rankwood.extend import *\nfrom typing import *\n" + source, scope)
    return scope


def forget(*names):
    for name in names:
        PARTS.pop(name, None)


def test_a_part_is_named_by_what_it_reads_from_outside():
    def lowered(constant, helper):
        source = f"""
def twice(x):
    return {helper} * x

def make(inside):
    @part
    class Outside:
        "A weight of values from outside."
        def weight(self, a, b):
            return twice(inside) + OUTSIDE
    return Outside
"""
        scope = typed_in(source, OUTSIDE=constant)
        return [scope["make"](inside).Lowered.__name__ for inside in (1.0, 2.0)]

    try:
        one, same = lowered(3.0, 2), lowered(3.0, 2)
        assert one == same and one[0] != one[1]  # a value in a closure
        assert not set(one) & set(lowered(4.0, 2))  # a global
        assert not set(one) & set(lowered(3.0, 5))  # a function that it calls
    finally:
        forget("Outside")


def test_ranges_end_with_the_list():
    scope = typed_in("""
@part
class TooFar:
    "Pairs of the next documents, without a look at the end of the list."
    few: ClassVar[bool] = True
    reach: int = 5000

    def count_anchors(self, n):
        return n + 3

    def partners(self, i, n):
        return i + 1, i + 1 + self.reach
""")
    try:
        y, s = [1, 0, 2, 0], [0.3, 0.1, -0.2, 0.0]
        too_far = Lambda(Uniform(), scope["TooFar"]())
        testing.check_part(too_far, compiled=False)
        found, expected = rw.gradients(too_far, y, s), rw.gradients(Lambda(Uniform()), y, s)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    finally:
        forget("TooFar")


def test_a_wrapper_that_weighs_pairs_itself_gets_ranks():
    scope = typed_in(
        """
@part
class Early:
    "A weight that falls with the rank of the better ranked document."
    base: Weight = Uniform()

    def weight(self, a, b):
        return weight(self.base, a, b) / (1 + min(a.rank, b.rank))
""",
        Uniform=Uniform,
    )
    try:
        early = Lambda(scope["Early"]())
        y, s = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 1.0])
        with testing.interpreted():
            found = rw.gradients(early, y, s)
        np.testing.assert_allclose(found, testing.oracle_gradients(early, y, s), atol=1e-12)
    finally:
        forget("Early")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("@part\nclass P:\n    word: str = 'a'", r"P.word must say which words it takes"),
        (
            "@part\nclass P:\n    columns = ('fall')",
            r"P.columns must be a tuple of names: \('fall',\)",
        ),
        (
            "from __future__ import annotations\n@part\nclass P:\n    x: Nothing = 1.0\n    def f(self): pass",
            r"P: an annotation can't be read: name 'Nothing' is not defined",
        ),
    ],
)
def test_what_a_part_can_not_be_fails_at_once(source, error):
    with pytest.raises(TypeError, match=error):
        exec(
            f"from rankwood.extend import *\n{source}"
            if "__future__" not in source
            else source.replace("annotations\n", "annotations\nfrom rankwood.extend import *\n"),
            {"__name__": "__main__"},
        )


def test_annotations_may_be_text():
    scope = {"__name__": "__main__"}
    exec(
        "from __future__ import annotations\nfrom rankwood.extend import *\n"
        "@part\nclass Late:\n    'A weight.'\n    x: Positive = 1.0\n"
        "    def weight(self, a, b):\n        return self.x",
        scope,
    )
    try:
        assert scope["Late"](2).x == 2.0
        with pytest.raises(rw.InputError, match=r"Late.x must be positive"):
            scope["Late"](-1)
    finally:
        forget("Late")


def test_messages_name_public_parts_and_missing_methods():
    with pytest.raises(rw.InputError) as raised:
        Lambda(weight=Logistic())
    assert "Swap" in str(raised.value) and "SwapAndNDCGLoss2" not in str(raised.value)
    with pytest.raises(rw.InputError, match=r"BothDirections.*got Logistic"):
        Lambda(pairs=Logistic())
    scope = typed_in("""
@part
class Half:
    "A loss that lacks methods."
    def pair_derivatives(self, a, b):
        return PairDerivatives(1.0, 1.0, 1.0)
""")
    try:
        with pytest.raises(
            rw.InputError, match="Half has 'pair_derivatives', and needs the method 'embed'"
        ):
            Lambda(loss=scope["Half"]())
    finally:
        forget("Half")
