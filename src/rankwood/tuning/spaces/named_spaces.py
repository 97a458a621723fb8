"""Search spaces by name: those of papers, and what the argument of `tune` stands for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.estimators.two_stage.estimator import TwoStage
from rankwood.neural.architectures.table import ARCHITECTURES
from rankwood.neural.presets import PRESETS
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.lists.stochastic import StochasticRank
from rankwood.tuning.objective_texts import cutoff_of, name_of, parameters_of
from rankwood.tuning.parameters import Tunable, stage_of
from rankwood.tuning.spaces.default_spaces import default, own_dimensions, refused_by_catboost
from rankwood.tuning.spaces.dimensions import Choice, Dimension, Float, Integer
from rankwood.tuning.spaces.space import Space


def names() -> list[str]:
    """Return the names of the spaces of papers.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.spaces.names()
    ['lambdagap-2025', 'which-tricks-2023', 'bivariate-2024']
    """
    return list(_PAPERS)


def named(
    name: str,
    *,
    objective: Any = "lambdarank-ndcg@10",
    engine: str = "lightgbm",
    k: int | None = None,
) -> Space:
    """Return the space of a paper.

    Parameters
    ----------
    name : str
        ``"lambdagap-2025"``: Table 7 of [lambdagap2025]. ``"which-tricks-2023"``: Appendix A of [whichtricks2023].
        ``"bivariate-2024"``: [bivariate2024] names the parameters that it tunes but not their ranges; these contain
        all values of its Tables 6 to 8.
    objective : str
        The objective: some parameters are its own, or depend on its cutoff.
    engine : str
        The engine, or the architecture of a network, such as ``"dnn"``. ``"which-tricks-2023"`` has spaces for
        several engines, and ``"bivariate-2024"`` for trees and networks.
    k : int, optional
        The cutoff of the metric; by default that of the objective.

    Returns
    -------
    Space

    Raises
    ------
    InputError
        If there is no such space, or none for the engine or the objective.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.spaces.named("lambdagap-2025", objective="lambdagap-x+@5")
    Space({
        'num_leaves': Integer(15, 254, log=True),
        'min_child_samples': Integer(2, 128, log=True),
        'learning_rate': Float(0.0009765625, 1.0, log=True),
        'min_child_weight': Float(0.0, 0.1),
        'objective.k': Choice(5, 8),
        'objective.mu': Float(0.1, 10.0),
    })
    """
    if name not in _PAPERS:
        raise checks.InputError(f"unknown space {name!r}{checks.nearest(str(name), _PAPERS)}")
    to_objective(objective)
    if engine not in ARCHITECTURES:
        base.abilities_of(engine)
    k = cutoff_of(objective) if k is None else checks.at_least(k, 1, "k")
    return Space(_PAPERS[name](objective, engine, k))


#: The truncation level of [lambdagap2025] that cuts nothing, and the losses that it offers it to: of NDCG, no hybrids.
_WHOLE_LIST = 1000
_WITHOUT_TRUNCATION = frozenset(
    {"lambdarank-ndcg", "lambdarank-bndcg", "lambdaloss-ndcg", "lambdaloss-bndcg"}
)


def _lambdagap(objective: Any, engine: str, k: int | None) -> dict[str, Dimension]:
    """Return the space of Table 7, where ranges of whole numbers exclude the upper bound.

    The text has [0, 1] for the smallest weight of a leaf, but two of the selected values equal 0.1 and none exceeds it:
    the bound here is 0.1.
    """
    _only(engine, ("lightgbm",), "lambdagap-2025")
    known = parameters_of(objective)
    space: dict[str, Dimension] = {
        "num_leaves": Integer(15, 254, log=True),
        "min_child_samples": Integer(2, 128, log=True),
        "learning_rate": Float(1 / 1024, 1.0, log=True),
        "min_child_weight": Float(0.0, 0.1),
    }
    # The paper's truncation level is the k of every objective: it cuts the pairs and, in NDCG, the ideal.
    if "k" in known:
        if k is None:
            raise checks.InputError(
                "the space 'lambdagap-2025' needs a cutoff: give k=, or an objective with one, as in 'lambdagap-x@5'."
            )
        whole = (_WHOLE_LIST,) if name_of(objective) in _WITHOUT_TRUNCATION else ()
        space["objective.k"] = Choice(k, k + 3, *whole)
    if "mu" in known:
        space["objective.mu"] = Float(0.1, 10.0)
    return space


def _which_tricks(objective: Any, engine: str, k: int | None) -> dict[str, Dimension]:
    """Return the space of Appendix A: one for LightGBM's LambdaMART, and three for other losses."""
    _only(engine, ("lightgbm", "catboost"), "which-tricks-2023")
    space: dict[str, Dimension] = {"learning_rate": Float(1e-3, 1.0, log=True)}
    part = to_objective(objective)
    if isinstance(part, StochasticRank):
        return space | _stochastic_rank(part, engine)
    if engine == "lightgbm":
        return space | {
            "reg_lambda": Float(0.1, 100.0, log=True),
            "max_depth": Integer(6, 16),
            "num_leaves": Integer(16, 256, log=True),
            "min_child_samples": Integer(1, 1000, log=True),
        }
    space |= {"reg_lambda": Float(1e-3, 100.0, log=True), "max_depth": Integer(6, 8)}
    return {name: one for name, one in space.items() if name not in refused_by_catboost(part)}


def _stochastic_rank(part: StochasticRank, engine: str) -> dict[str, Dimension]:
    """Return the space of StochasticRank; on LightGBM it is the depth that limits trees, as on CatBoost."""
    space: dict[str, Dimension] = {
        "reg_lambda": Choice(0.0),
        "max_depth": Integer(6, 10),
        "langevin": Choice(True),
        "model_shrink_rate": Float(1e-5, 1e-2, log=True),
        "diffusion_temperature": Float(1e8, 1e11, log=True),
        "objective.mu": Float(1e-2, 10.0, log=True),
    }
    if engine == "lightgbm":
        return space | {"num_leaves": Choice(2**10), "min_child_samples": Choice(10)}
    native(part)  # raises if CatBoost can't train it
    return space


#: Sizes of the layers in Table 6 of [bivariate2024], small networks first.
_SIZES = sorted(
    {row["hidden"] for (_, data), row in PRESETS.items() if "hidden" in row and data != "small"},
    key=sum,
)
_NETWORKS_OF_BIVARIATE: dict[str, Dimension] = {
    "learning_rate": Float(0.001, 0.1, log=True),
    "hidden": Choice(*_SIZES),
    "dropout": Float(0.0, 0.75),
    "layers": Integer(1, 6),
    "heads": Choice(1, 2, 4, 6),
    "size": Choice(128, 256, 512),
    "attention_dropout": Float(0.0, 0.75),
}


def _bivariate(objective: Any, engine: str, k: int | None) -> dict[str, Dimension]:
    """Return the parameters of Section 5.4, in ranges that contain the values of Tables 6 to 8."""
    if engine in ARCHITECTURES:
        networks = own_dimensions(engine, _NETWORKS_OF_BIVARIATE)
        # The heads of SetRank share its units, of which there are powers of two.
        return networks | ({"heads": Choice(1, 2, 4)} if engine == "setrank" else {})
    _only(engine, ("lightgbm", "pairtree"), "bivariate-2024")
    return {
        "learning_rate": Float(0.001, 0.2, log=True),
        "min_child_samples": Integer(20, 10_000, log=True),
        "num_leaves": Integer(31, 2000, log=True),
        "min_child_weight": Float(0.0, 250.0),
    }


def _only(engine: str, able: tuple[str, ...], space: str) -> None:
    """Raise if a paper has no space for an engine."""
    if engine not in able:
        raise checks.InputError(
            f"the space {space!r} is for {' and '.join(able)}, not for {engine}; use rankwood.spaces.default."
        )


_PAPERS: dict[str, Callable[[Any, str, int | None], dict[str, Dimension]]] = {
    "lambdagap-2025": _lambdagap,
    "which-tricks-2023": _which_tricks,
    "bivariate-2024": _bivariate,
}


def resolve(space: Any, estimator: Tunable) -> Space:
    """Return the space that the argument of `tune` stands for: a space, a dictionary, a name, or None."""
    if isinstance(space, Space):
        return space
    if isinstance(space, dict):
        return Space(space)
    if space is not None and not isinstance(space, str):
        raise checks.InputError(f"space must be a Space, a dict or a name, got {space!r}.")
    if isinstance(
        estimator, TwoStage
    ):  # the second stage is tuned, on lists of the same first stage
        inner = resolve(space, stage_of(estimator, "second"))
        return Space({f"second__{name}": one for name, one in inner.items()})
    network = isinstance(estimator, NeuralRanker)
    engine = estimator.architecture if network else estimator.engine_
    if space is None or space == "default":
        return default(engine, estimator.objective)
    return named(space, objective=estimator.objective, engine=engine)


def read(path: str | Path) -> Space:
    """Return the space in a file, written as it is printed.

    Parameters
    ----------
    path : path
        A text file with ``Space({...})``.

    Returns
    -------
    Space

    Raises
    ------
    InputError
        If the file has no such text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwood import spaces
    >>> length = Path("space.txt").write_text("Space({'num_leaves': Integer(15, 63)})")
    >>> spaces.read("space.txt")["num_leaves"]
    Integer(15, 63)
    """
    try:
        return Space.parse(Path(path).read_text(encoding="utf-8"))
    except (checks.InputError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, checks.InputError) else "it is a binary file."
        raise checks.InputError(f"{path}: {reason}") from None
