"""StochasticRank by name."""

from functools import partial

from rankwood._kernels.named import Named, Parameter, Values
from rankwood.metrics.parts.binary import AP
from rankwood.metrics.parts.cascade import ERR, PFound
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.parts.reciprocal_rank import RR
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
from rankwood.objectives.lists.stochastic import StochasticRank

_SHARED = (NOISE_SCALE, STOCHASTIC_MU, SAMPLES, ESTIMATOR, SFA, NU)
_OF_MAP = """\
A document that passes another swaps places with a neighbour, and what that changes is known from the relevant
documents above the two."""


def _compose(metric: Choose, values: Values) -> StochasticRank:
    shared = {parameter.name: getattr(values, parameter.name) for parameter in _SHARED}
    return StochasticRank(metric(values), **shared)


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
         (K, GAIN), lambda values: NDCG(values.k, values.gain)),
    _row("stochasticrank-dcg", "StochasticRank for DCG: queries with more relevant documents count more",
         "ustimenko2020", (K, GAIN), lambda values: DCG(values.k, values.gain)),
    _row("stochasticrank-mrr", "StochasticRank for the reciprocal rank", "whichtricks2023",
         (K, REL), lambda values: RR(values.k, values.rel)),
    _row("stochasticrank-map", "StochasticRank for average precision, which the papers leave open",
         "ustimenko2020, whichtricks2023", (K, REL), lambda values: AP(values.k, values.rel), _OF_MAP),
    _row("stochasticrank-err", "StochasticRank for the expected reciprocal rank", "whichtricks2023",
         (K, LINEAR_CHANCE, MAX_LABEL), lambda values: ERR(values.k, values.gain(values.max_label)), STOPS),
    _row("stochasticrank-pfound",
         "StochasticRank for PFound, of a user who gives up after each document with probability 0.15", "ustimenko2020",
         (K, LINEAR_CHANCE, MAX_LABEL), lambda values: PFound(values.k, values.gain(values.max_label)),
         STOPS.replace("stops the user", "satisfies")),
))
