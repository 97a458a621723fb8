"""Spaces: they print themselves, have the papers' numbers, and all of their values can be trained with."""

import itertools

import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.estimators.parameters import engine_params
from rankwood.spaces import Choice, Float, Integer, Space
from rankwood.tuning.objective_texts import with_parameters
from rankwood.tuning.parameters import configured, own_values
from tests.helpers.small_study import refused

TRAINED = [
    ("lightgbm", "lambdarank-ndcg@10"),
    ("xgboost", "yetirank"),
    ("catboost", "yetirank"),
    ("catboost", "lambdarank-ndcg@10"),
    ("pairtree", "bi-lambdarank-ndcg@5"),
]
PAPERS = [
    ("lambdagap-2025", "lightgbm", "lambdarank-p@5"),
    ("lambdagap-2025", "lightgbm", "lambdagap-s++@10"),
    ("which-tricks-2023", "lightgbm", "lambdarank-ndcg@10"),
    ("which-tricks-2023", "catboost", "yetirank"),
    ("which-tricks-2023", "catboost", "stochasticrank-ndcg@10"),
    ("bivariate-2024", "pairtree", "bi-lambdarank-ndcg@5"),
]


def ends(dimension):
    values = getattr(dimension, "values", None)
    return values if values is not None else (dimension.low, dimension.high)


@pytest.mark.parametrize(
    ("space", "engine", "objective"),
    [(rw.spaces.default(e, o), e, o) for e, o in TRAINED]
    + [(rw.spaces.named(n, objective=o, engine=e), e, o) for n, e, o in PAPERS],
    ids=[f"{e}-{o}" for e, o in TRAINED] + ["-".join(row) for row in PAPERS],
)
def test_spaces_round_trip_and_engines_take_their_corners(space, engine, objective):
    assert Space.parse(repr(space)) == space
    scope = {"Space": Space, "Float": Float, "Integer": Integer, "Choice": Choice}
    assert eval(repr(space), scope) == space
    own = rw.Ranker(objective, engine)
    start = own_values(own, space)
    for params in [start, *({**start, n: v} for n in space for v in ends(space[n]))]:
        made = configured(own, params)
        base.check_params(engine, engine_params(made), rw.objective(made.objective))


def test_table_7_of_lambdagap():
    # Upper bounds of whole numbers are exclusive in FLAML: [2^4 - 1, 2^8 - 1) and [2, 2^7 + 1).
    space = rw.spaces.named("lambdagap-2025", objective="lambdarank-ndcg@5")
    assert space["num_leaves"] == Integer(15, 254, log=True)
    assert space["min_child_samples"] == Integer(2, 128, log=True)
    assert space["learning_rate"] == Float(2**-10, 1.0, log=True)
    assert "objective.mu" not in space
    hybrid = rw.spaces.named("lambdagap-2025", objective="lambdagap-x++@10")
    assert hybrid["objective.k"] == Choice(10, 13)
    assert hybrid["objective.mu"] == Float(0.1, 10.0)
    # Values that the paper selected (Table A1) are within the bounds.
    chosen = {"num_leaves": 254, "min_child_samples": 128, "min_child_weight": 0.1}
    for name, value in chosen.items():
        assert hybrid[name].nearest(value) == value


@pytest.mark.parametrize("metric", ["ndcg", "bndcg"])
def test_truncation_levels_of_lambdagap(metric):
    def levels(name):
        return rw.spaces.named("lambdagap-2025", objective=name)["objective.k"]

    # The text beside Table 7: 1,000 was added for the losses of NDCG without ++, and for no others.
    for family in ("lambdarank", "lambdaloss"):
        assert levels(f"{family}-{metric}@5") == Choice(5, 8, 1000)
    assert levels(f"lambdaloss-{metric}++@5(mu=2)") == Choice(5, 8)
    assert levels("lambdaloss-ex++-random@5") == levels("lambdarank-p@5") == Choice(5, 8)


def test_the_searched_truncation_cuts_the_ideal_too():
    space = rw.spaces.named("lambdagap-2025", objective="lambdarank-ndcg@5")
    trial = configured(rw.Ranker("lambdarank-ndcg@5(norm=True)"), {"objective.k": 8})
    assert "objective.truncation" not in space
    # Three relevant documents more than the first five: the ideal of eight places is larger by their gains.
    y = [1] * 8 + [0]
    scores = [0.0] * 8 + [1.0]
    by_hand = rw.gradients("lambdarank-ndcg(k=8, truncation=8)", y, scores)[0]
    five = rw.gradients("lambdarank-ndcg(k=5, truncation=8)", y, scores)[0]
    found = rw.gradients(trial.objective, y, scores)[0]
    assert found.tolist() == by_hand.tolist() != five.tolist()


def test_appendix_a_of_which_tricks():
    light = rw.spaces.named("which-tricks-2023", objective="lambdarank-ndcg@10")
    assert light["reg_lambda"] == Float(0.1, 100, log=True)
    assert light["max_depth"] == Integer(6, 16)
    assert light["num_leaves"] == Integer(16, 256, log=True)
    yeti = rw.spaces.named("which-tricks-2023", objective="yetirank", engine="catboost")
    assert yeti == Space(
        {
            "learning_rate": Float(1e-3, 1, log=True),
            "reg_lambda": Float(1e-3, 100, log=True),
            "max_depth": Integer(6, 8),
        }
    )
    smooth = rw.spaces.named(
        "which-tricks-2023", objective="stochasticrank-ndcg@10", engine="catboost"
    )
    assert smooth.fixed == {"reg_lambda": 0.0, "langevin": True}
    assert smooth["diffusion_temperature"] == Float(1e8, 1e11, log=True)
    assert smooth["objective.mu"] == Float(1e-2, 10, log=True)


def test_bivariate_contains_table_8():
    space = rw.spaces.named("bivariate-2024")
    table = {
        "learning_rate": [0.05, 0.08, 0.045, 0.005, 0.04, 0.001, 0.105, 0.075],
        "min_child_samples": [200, 2680, 1910, 5640, 190, 460, 40, 7150, 500, 170, 1790],
        "num_leaves": [115, 230, 245, 300, 365, 500, 75, 1530, 425, 445, 490, 1100],
        "min_child_weight": [0, 20, 80, 195, 240, 50, 10, 170, 5],
    }
    for name, value in itertools.chain.from_iterable(
        [(name, value) for value in values] for name, values in table.items()
    ):
        assert space[name].nearest(value) == value


def test_parameters_of_the_objective():
    cases = [
        ("lambdagap-x+@5", {"mu": 2.0}, rw.objective("lambdagap-x+", k=5, mu=2.0)),
        ("lambdarank-ndcg@10(sigma=2.0)", {"truncation": 13, "sigma": 0.5}, None),
        ("bi-lambdarank-ndcg@5", {"k": 8}, rw.objective("bi-lambdarank-ndcg@8")),
        ("yetirank", {"noise_scale": 0.3}, rw.objective("yetirank", noise_scale=0.3)),
    ]
    for text, params, expected in cases:
        inside = rw.objective("lambdarank-ndcg", k=10, truncation=13, sigma=0.5)
        assert rw.objective(with_parameters(text, params)) == (expected or inside)


def test_start_is_the_rankers_own_parameters():
    space = Space(
        {
            "num_leaves": Integer(2, 20),
            "learning_rate": Float(0.01, 1.0),
            "objective.truncation": Choice(10, 13),
            "objective.sigma": Float(0.1, 5.0),
            "extra_trees": Choice(False, True),
            "max_depth": Integer(1, 9),
        }
    )
    ranker = rw.Ranker("lambdarank-ndcg@10(sigma=2.0)", num_leaves=31, extra_trees=True)
    assert own_values(ranker, space) == {
        "num_leaves": 20,
        "learning_rate": 0.05,
        "objective.truncation": 10,
        "objective.sigma": 2.0,
        "extra_trees": True,
        "max_depth": 5,
    }
    assert Choice(1, True).nearest(True) is True
    assert Choice(None, 3).nearest("x") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Space({'num_leaves': Integer(7)})", "not a space"),
        ("Space({'num_leaves': Intger(7, 8)})", "did you mean 'Integer'"),
        ("Space({'num_leaves': Integer(9, 8)})", "low <= high"),
        ("Space({'num_leaves': Integer(0, 8, log=True)})", "above 0"),
        ("Space({'num_leaves': Integer(1.5, 8)})", "must be an integer"),
        ("Space({'engine.x': Integer(1, 8)})", "only parameters of the objective"),
        ("Space({'a b': Integer(1, 8)})", "not the name of a parameter"),
        ("Space({'a': 5})", "not a space"),
        ("Space({})", "as in Space"),
        ("Space({'a': Choice(1, 1)})", "twice"),
        ("Space({'a': Choice()})", "at least one"),
        ("__import__('os')", "not a space"),
    ],
)
def test_wrong_texts(text, message):
    with refused(message):
        Space.parse(text)


@pytest.mark.parametrize(
    ("engine", "name"),
    [("catboost", "lambdarank-ndcg@10"), ("catboost", "yetirank"), ("lightgbm", "bi-ranknet")],
)
def test_a_composition_has_the_space_of_its_name(engine, name):
    made = rw.objective(name)
    assert rw.spaces.default(engine, made) == rw.spaces.default(engine, name)
    if engine == "catboost":
        papers = [
            rw.spaces.named("which-tricks-2023", objective=one, engine=engine)
            for one in (name, made)
        ]
        assert papers[0] == papers[1]
        assert ("reg_lambda" in papers[0]) == (name == "yetirank")


def test_wrong_names():
    with refused("did you mean 'lambdagap-2025'"):
        rw.spaces.named("lambdagap")
    with refused("unknown engine"):
        rw.spaces.default("lightgmb")
    with refused("needs a cutoff"):
        rw.spaces.named("lambdagap-2025", objective="lambdarank-ndcg")
    with refused("not for xgboost"):
        rw.spaces.named("bivariate-2024", engine="xgboost")


def test_files(tmp_path):
    path = tmp_path / "space.txt"
    path.write_text(f"# mine\n{rw.spaces.default('xgboost')!r}\n")
    assert rw.spaces.read(path) == rw.spaces.default("xgboost")
    path.write_bytes(b"\xff\xfe\x00")
    with refused("binary file"):
        rw.spaces.read(path)
