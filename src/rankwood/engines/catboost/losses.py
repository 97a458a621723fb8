"""Which compositions are losses of CatBoost's own: the one place where an engine knows parts by name.

CatBoost hands a custom objective blocks of rows without their queries, so per-query gradients can't be given
to it. Every row of this table was checked by the leaves of one tree; tests/engines/test_catboost.py has them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.engines.base import engines_that_can
from rankwood.metrics.parts.cascade import ERR, PFound
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.parts.gains import Exp, ExpChance, Linear, LinearChance
from rankwood.metrics.parts.position import ExpDCG
from rankwood.metrics.parts.reciprocal_rank import RR
from rankwood.objectives.lists.given_pairs import RankNetPairs
from rankwood.objectives.lists.pointwise import RMSE, QueryRMSE
from rankwood.objectives.lists.softmax import Softmax
from rankwood.objectives.lists.stochastic import StochasticRank
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.catboost_weights import (
    CatBoostAP,
    CatBoostERR,
    CatBoostRR,
    YetiAP,
    YetiRR,
)
from rankwood.objectives.parts.labels import Binary
from rankwood.objectives.parts.losses import Logistic
from rankwood.objectives.parts.noise import GaussianNoise, GumbelNoise, LogisticNoise, NoNoise
from rankwood.objectives.parts.pairs import All, Neighbours, RanksApart, Top
from rankwood.objectives.parts.scales import Log2Sum, NoScale
from rankwood.objectives.parts.weights import ByDistance, Scaled, Swap, Uniform
from rankwood.objectives.units import read_labels as read

LOSSES = (
    *("YetiRank", "StochasticRank", "LambdaMart"),
    *("QueryRMSE", "QuerySoftMax", "PairLogit", "RMSE"),
)
_ANY = None  # a pair set has no largest distance of ranks, or no cutoff


class Native(NamedTuple):
    """A loss of CatBoost's own that equals an objective."""

    name: str
    options: dict[str, Any]
    #: Labels as CatBoost must get them.
    labels: Callable[[np.ndarray], np.ndarray]
    #: Training parameters without which leaves would differ from ours.
    params: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    @property
    def text(self) -> str:
        """The loss as CatBoost writes it."""
        options = ";".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}:{options}" if options else self.name


def native(objective: Any) -> Native:
    """Return the loss that equals an objective, or raise if CatBoost has none."""
    found = None
    if isinstance(objective, QueryRMSE):
        found = Native("QueryRMSE", {}, _as_they_are)
    elif isinstance(objective, RMSE):
        # By default CatBoost starts from the mean label; scores here start from 0.
        found = Native("RMSE", {}, _as_they_are, {"boost_from_average": False})
    elif isinstance(objective, RankNetPairs):
        found = Native("PairLogit", {}, _as_they_are)
    elif isinstance(objective, Softmax):
        # By default CatBoost adds 0.01 to the Hessian, and its leaves are gradient steps.
        newton = {"leaf_estimation_method": "Newton", "leaf_estimation_iterations": 1}
        found = Native("QuerySoftMax", {"lambda": 0.0}, _as_they_are, newton)
    elif isinstance(objective, StochasticRank):
        found = _stochastic_rank(objective)
    elif isinstance(objective, Lambda) and _is_plain(objective.loss):
        found = _pair_logit(objective) or _lambda_mart(objective) or _yeti(objective)
    if not found:
        raise _refused(objective, _why_not(objective))
    return found


def _why_not(objective: Any) -> str:
    """Return why CatBoost can't train an objective that equals none of its losses."""
    if isinstance(objective, Lambda) and isinstance(objective.noise, GumbelNoise):
        logistic = replace(objective, noise=LogisticNoise())
        if _is_plain(objective.loss) and _yeti(logistic):
            return "the noise that it calls Gumbel is logistic, which noise='logistic' asks for"
    return f"it takes no per-query gradients, and this is not one of its own losses ({', '.join(LOSSES)})"


def _is_plain(loss: Any) -> bool:
    """Return whether a loss is the logistic one with the Hessian that CatBoost has."""
    return isinstance(loss, Logistic) and loss.hessian == 1.0


def _refused(objective: Any, why: str) -> checks.InputError:
    """Return the error for an objective that CatBoost can't train."""
    return checks.InputError(
        f"CatBoost can't train {objective!r}: {why}. {engines_that_can('documents')}"
    )


def _as_they_are(y: np.ndarray) -> np.ndarray:
    """Return labels unchanged."""
    return y


def _converter(objective: Lambda, gain: Any = None) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from labels to CatBoost's: as the objective reads them, or their gains if one is given."""
    if gain is None:
        return lambda y: read(objective, y)
    return lambda y: _gains(gain, read(objective, y))


def _gains(gain: Any, y: np.ndarray) -> np.ndarray:
    """Return the gain of each label; those of ERR and PFound are probabilities, which CatBoost takes for labels."""
    labels, place = np.unique(y, return_inverse=True)
    return np.array([gain.gain(label) for label in labels.tolist()])[place]


def _gain_name(gain: Any) -> str | None:
    """Return CatBoost's name of a gain, or None if it has none."""
    return {Exp: "Exp", Linear: "Base"}.get(type(gain))


def _two_classes(objective: Lambda) -> bool:
    """Return whether an objective reads labels as 0 and 1."""
    return isinstance(objective.labels, Binary)


def _pair_logit(objective: Lambda) -> Native | None:
    """Return PairLogit if it equals the objective."""
    unweighted = isinstance(objective.weight, Uniform) and isinstance(objective.pairs, All)
    plain = isinstance(objective.scale, NoScale) and objective.loss.sigma == 1.0
    return Native("PairLogit", {}, _converter(objective)) if unweighted and plain else None


def _lambda_mart(objective: Lambda) -> Native | None:
    """Return LambdaMart if it equals the objective.

    CatBoost reads the cutoff for NDCG only, where it truncates pairs and the ideal but no discounts.
    """
    weight, pairs = objective.weight, objective.pairs
    norm = isinstance(objective.scale, Log2Sum)
    if norm != isinstance(weight, ByDistance) or not isinstance(objective.noise, NoNoise):
        return None
    if norm and weight.c != 0.01:
        return None
    weight = weight.base if norm else weight
    options = {"metric": "", "sigma": objective.loss.sigma, "norm": str(norm).lower()}
    top = pairs.k if isinstance(pairs, Top) else None
    if not isinstance(pairs, (All, Top)):
        return None
    if isinstance(weight, Swap) and isinstance(weight.metric, NDCG):
        metric = weight.metric
        if metric.k is not None or metric.ideal != top or not _gain_name(metric.gain):
            return None
        options |= {"metric": "NDCG", "type": _gain_name(metric.gain)} | (
            {"top": top} if top else {}
        )
        return Native("LambdaMart", options, _converter(objective))
    if top is not None:
        return None
    if isinstance(weight, CatBoostERR):
        labels = _converter(objective, LinearChance(weight.max_label))
        return Native("LambdaMart", options | {"metric": "ERR"}, labels)
    metrics = {CatBoostRR: "MRR", CatBoostAP: "MAP"}
    if type(weight) not in metrics or not _two_classes(objective):
        return None
    return Native("LambdaMart", options | {"metric": metrics[type(weight)]}, _converter(objective))


def _yeti(objective: Lambda) -> Native | None:
    """Return YetiRank in one of its modes, if it equals the objective."""
    noise = _noise(objective)
    pairs = _neighbours(objective.pairs)
    if noise is None or pairs is None or not isinstance(objective.scale, NoScale):
        return None
    if objective.loss.sigma != 1.0:
        return None
    mode = _mode(objective, *pairs)
    if mode is None:
        return None
    options, gain = mode
    return Native("YetiRank", options | noise, _converter(objective, gain))


def _noise(objective: Lambda) -> dict[str, Any] | None:
    """Return the options of YetiRank's noise, or None if it has no such noise."""
    noise, draws = objective.noise, {"permutations": objective.draws}
    if isinstance(noise, NoNoise):
        return {"noise": "No", "permutations": 1}  # more would all be the same
    if isinstance(noise, GaussianNoise):
        return {"noise": "Gauss", "noise_power": noise.scale} | draws
    if isinstance(noise, LogisticNoise) and noise.scale == 1.0:
        return {"noise": "Gumbel"} | draws  # CatBoost's name for the logistic distribution
    return None


def _neighbours(pairs: Any) -> tuple[int | None, int | None] | None:
    """Return the largest distance of ranks and the cutoff of a pair set, or None if YetiRank can't have it."""
    if isinstance(pairs, Neighbours):
        return (pairs.distance, pairs.k) if not pairs.exact or pairs.distance == 1 else None
    if isinstance(pairs, RanksApart) and pairs.exact and pairs.k == 1:
        return 1, _ANY
    if isinstance(pairs, (All, Top)):
        return _ANY, getattr(pairs, "k", _ANY)
    return None


def _mode(
    objective: Lambda, distance: int | None, k: int | None
) -> tuple[dict[str, Any], Any] | None:
    """Return the options of YetiRank's mode, and the gain to convert labels by, if it needs one."""
    # A constant factor on all weights changes nothing but what reg_lambda means.
    weight = objective.weight.base if isinstance(objective.weight, Scaled) else objective.weight
    metric = weight.metric if isinstance(weight, Swap) else None
    if isinstance(metric, ExpDCG):
        # CatBoost's constant is 0.15 for every decay, so its weights are a multiple of ours unless the decay is 0.85.
        plain = isinstance(metric.gain, Linear) and metric.k is None
        classic = plain and (distance, k) == (1, _ANY)  # in this mode it reads neither
        return ({"mode": "Classic", "decay": metric.base}, None) if classic else None
    options: dict[str, Any] = {"num_neighbors": -1 if distance is _ANY else distance}
    if isinstance(metric, (DCG, NDCG)):
        if not _gain_name(metric.gain) or k not in (_ANY, metric.k):
            return None
        if isinstance(metric, NDCG) and metric.ideal not in (None, metric.k):
            return None
        k = metric.k  # documents below it have no discount
        options |= {"mode": type(metric).__name__, "dcg_type": _gain_name(metric.gain)}
    elif isinstance(metric, ERR) and isinstance(metric.gain, (LinearChance, ExpChance)):
        if metric.k is not None:
            return None
        return {"mode": "ERR"} | options | ({"top": k} if k else {}), metric.gain
    elif _two_classes(objective) and (
        isinstance(weight, YetiRR) or (metric == RR() and distance == 1)
    ):
        options["mode"] = "MRR"
    elif _two_classes(objective) and isinstance(weight, YetiAP):
        options["mode"] = "MAP"
    else:
        return None
    return options | ({"top": k} if k else {}), None


def _stochastic_rank(objective: StochasticRank) -> Native | None:
    """Return StochasticRank if it equals the objective; raise if CatBoost's is biased."""
    metric = objective.metric
    if objective.estimator != "projected":
        return None
    if isinstance(metric, ERR):
        raise _refused(objective, "its own StochasticRank is biased for ERR")
    if objective.noise_scale != 1.0:
        raise _refused(objective, "its own StochasticRank is biased unless noise_scale is 1")
    options: dict[str, Any] = {"metric": type(metric).__name__}
    labels = _as_they_are
    if isinstance(metric, (DCG, NDCG)) and _gain_name(metric.gain):
        if isinstance(metric, NDCG) and metric.ideal not in (None, metric.k):
            return None
        options["type"] = _gain_name(metric.gain)
    elif isinstance(metric, PFound) and isinstance(metric.gain, (LinearChance, ExpChance)):
        options["decay"] = metric.decay
        gain = metric.gain
        labels = lambda y: _gains(gain, y)  # noqa: E731
    elif isinstance(metric, RR) and metric.k is None:  # its MRR truncates otherwise
        options["metric"] = "MRR"
        rel = metric.rel
        labels = lambda y: (y >= rel).astype(np.float64)  # noqa: E731
    else:
        return None
    options |= {"top": metric.k} if metric.k else {}
    options |= {"mu": objective.mu, "num_estimations": objective.samples}
    return Native("StochasticRank", options | {"lambda": objective.sfa, "nu": objective.nu}, labels)
