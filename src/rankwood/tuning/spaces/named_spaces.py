"""Search spaces by name: the defaults of each engine, and those of papers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.engines import base
from rankwood.engines.catboost.losses import native
from rankwood.estimators.ranker import Ranker
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of
from rankwood.tuning.parameters import cutoff_of, parameters_of
from rankwood.tuning.spaces.dimensions import Choice, Dimension, Float, Integer
from rankwood.tuning.spaces.space import Space

_RATE = Float(0.01, 0.3, log=True)
_DEFAULTS: dict[str, dict[str, Dimension]] = {
    "lightgbm": {
        "learning_rate": _RATE,
        "num_leaves": Integer(7, 255, log=True),
        "min_child_samples": Integer(5, 500, log=True),
        "min_child_weight": Float(1e-3, 10.0, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "colsample_bytree": Float(0.3, 1.0),
        "extra_trees": Choice(False, True),
    },
    "xgboost": {
        "learning_rate": _RATE,
        "num_leaves": Integer(7, 255, log=True),
        "min_child_weight": Float(1e-3, 100.0, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "subsample": Float(0.5, 1.0),
        "colsample_bytree": Float(0.3, 1.0),
    },
    "catboost": {
        "learning_rate": _RATE,
        "max_depth": Integer(4, 10),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "subsample": Float(0.5, 1.0),
    },
    "pairtree": {
        "learning_rate": Float(0.001, 0.1, log=True),
        "num_leaves": Integer(15, 511, log=True),
        "min_child_samples": Integer(20, 5000, log=True),
        "reg_lambda": Float(1e-3, 100.0, log=True),
        "colsample_bytree": Float(0.3, 1.0),
    },
}


def default(engine: str = "lightgbm", objective: Any = None) -> Space:
    """Return the space that `rankwood.tune` searches if none is given.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost", "catboost", "pairtree"}
        The engine, or a registered learner: its space is the learning rate and what it was registered with.
    objective : str or part, optional
        The objective. Parameters that the engine can't combine with it are omitted, and an objective of pairs
        (``bi-...``) has the ranges of pair trees.

    Returns
    -------
    Space

    Raises
    ------
    InputError
        If there is no such engine or objective.

    Examples
    --------
    >>> import rankwood as rw
    >>> rw.spaces.default("catboost")
    Space({
        'learning_rate': Float(0.01, 0.3, log=True),
        'max_depth': Integer(4, 10),
        'reg_lambda': Float(0.001, 100.0, log=True),
        'subsample': Float(0.5, 1.0),
    })
    """
    dimensions = _dimensions(engine)
    if objective is None:
        return Space(dimensions)
    part = to_objective(objective)
    if unit_of(part) == "pairs":
        return Space(_DEFAULTS["pairtree"])
    refused = _refused_by_catboost(part) if engine == "catboost" else ()
    return Space({name: one for name, one in dimensions.items() if name not in refused})


def _dimensions(engine: str) -> dict[str, Dimension]:
    """Return the ranges of an engine's parameters."""
    abilities = base.abilities_of(engine)
    if abilities.registered is not None:
        return {"learning_rate": _RATE, **abilities.space}
    return _DEFAULTS[engine]


def _refused_by_catboost(objective: Any) -> tuple[str, ...]:
    """Return the parameters that our engine refuses: CatBoost's LambdaMart subtracts the L2 penalty."""
    return ("reg_lambda",) if native(objective).name == "LambdaMart" else ()


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
        all values of its Table 8.
    objective : str
        The objective: some parameters are its own, or depend on its cutoff.
    engine : str
        The engine; only ``"which-tricks-2023"`` has spaces for several.
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
    base.abilities_of(engine)
    k = cutoff_of(objective) if k is None else checks.at_least(k, 1, "k")
    return Space(_PAPERS[name](objective, engine, k))


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
    # The paper's truncation level is the k of P@k, of ARP and of LambdaGap.
    level = "truncation" if "truncation" in known else "k"
    if level in known:
        if k is None:
            raise checks.InputError(
                "the space 'lambdagap-2025' needs a cutoff: give k=, or an objective with one, as in 'lambdagap-x@5'."
            )
        whole = (1000,) if "ndcg" in str(objective) and level == "truncation" else ()
        space[f"objective.{level}"] = Choice(k, k + 3, *whole)
    if "mu" in known:
        space["objective.mu"] = Float(0.1, 10.0)
    return space


def _which_tricks(objective: Any, engine: str, k: int | None) -> dict[str, Dimension]:
    """Return the space of Appendix A: one for LightGBM, and three for CatBoost's losses."""
    _only(engine, ("lightgbm", "catboost"), "which-tricks-2023")
    space: dict[str, Dimension] = {"learning_rate": Float(1e-3, 1.0, log=True)}
    if engine == "lightgbm":
        return space | {
            "reg_lambda": Float(0.1, 100.0, log=True),
            "max_depth": Integer(6, 16),
            "num_leaves": Integer(16, 256, log=True),
            "min_child_samples": Integer(1, 1000, log=True),
        }
    part = to_objective(objective)
    if native(part).name != "StochasticRank":
        space |= {"reg_lambda": Float(1e-3, 100.0, log=True), "max_depth": Integer(6, 8)}
        return {name: one for name, one in space.items() if name not in _refused_by_catboost(part)}
    return space | {
        "reg_lambda": Choice(0.0),
        "max_depth": Integer(6, 10),
        "langevin": Choice(True),
        "model_shrink_rate": Float(1e-5, 1e-2, log=True),
        "diffusion_temperature": Float(1e8, 1e11, log=True),
        "objective.mu": Float(1e-2, 10.0, log=True),
    }


def _bivariate(objective: Any, engine: str, k: int | None) -> dict[str, Dimension]:
    """Return the parameters of Section 5.4, in ranges that contain the values of Table 8."""
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


def resolve(space: Any, ranker: Ranker) -> Space:
    """Return the space that the argument of `tune` stands for: a space, a dictionary, a name, or None."""
    if isinstance(space, Space):
        return space
    if isinstance(space, dict):
        return Space(space)
    if space is None or space == "default":
        return default(ranker.engine_, ranker.objective)
    if isinstance(space, str):
        return named(space, objective=ranker.objective, engine=ranker.engine_)
    raise checks.InputError(f"space must be a Space, a dict or a name, got {space!r}.")


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
