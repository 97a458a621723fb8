"""StochasticRank by name."""

from functools import partial

from rankwood._core.named import Named, Parameter, Values
from rankwood.metrics.binary import AP
from rankwood.metrics.cascade import ERR, PFound
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.reciprocal_rank import RR
from rankwood.objectives.families.parameters import (
    ESTIMATOR,
    GAIN,
    LINEAR_CHANCE,
    MAX_LABEL,
    NOISE_SCALE,
    NU,
    REL,
    SAMPLES,
    SFA,
    STOCHASTIC_MU,
    K,
)
from rankwood.objectives.families.rows import STOPS, Choose, Family
from rankwood.objectives.stochastic import StochasticRank

_SHARED = (NOISE_SCALE, STOCHASTIC_MU, SAMPLES, ESTIMATOR, SFA, NU)
_OF_MAP = """\
A document that passes another swaps places with a neighbour, and what that changes is known from the relevant
documents above the two."""


def _compose(metric: Choose, given: Values) -> StochasticRank:
    shared = {parameter.name: getattr(given, parameter.name) for parameter in _SHARED}
    return StochasticRank(metric(given), **shared)


def _row(
    name: str,
    summary: str,
    citation: str,
    parameters: tuple[Parameter, ...],
    metric: Choose,
    details: str = "",
) -> Named:
    compose = partial(_compose, metric)
    return Named(name, summary, citation, (*parameters, *_SHARED), compose, details)


# fmt: off
STOCHASTIC = Family("StochasticRank", shared=_SHARED, rows=(
    _row("stochasticrank-ndcg", "StochasticRank for NDCG", "ustimenko2020, whichtricks2023",
         (K, GAIN), lambda given: NDCG(given.k, given.gain)),
    _row("stochasticrank-dcg", "StochasticRank for DCG: queries with more relevant documents count more",
         "ustimenko2020", (K, GAIN), lambda given: DCG(given.k, given.gain)),
    _row("stochasticrank-mrr", "StochasticRank for the reciprocal rank", "whichtricks2023",
         (K, REL), lambda given: RR(given.k, given.rel)),
    _row("stochasticrank-map", "StochasticRank for average precision, which the papers leave open",
         "ustimenko2020, whichtricks2023", (K, REL), lambda given: AP(given.k, given.rel), _OF_MAP),
    _row("stochasticrank-err", "StochasticRank for the expected reciprocal rank", "whichtricks2023",
         (K, LINEAR_CHANCE, MAX_LABEL), lambda given: ERR(given.k, given.gain(given.max_label)), STOPS),
    _row("stochasticrank-pfound",
         "StochasticRank for PFound, of a user who gives up after each document with probability 0.15", "ustimenko2020",
         (K, LINEAR_CHANCE, MAX_LABEL), lambda given: PFound(given.k, given.gain(given.max_label)),
         STOPS.replace("stops the user", "satisfies")),
))
