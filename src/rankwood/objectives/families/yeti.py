"""YetiRank and YetiLoss by name."""

from functools import partial
from typing import Any

from rankwood._kernels.named import Values
from rankwood.metrics.parts.binary import AP, Precision
from rankwood.metrics.parts.cascade import ERR
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.parts.position import ARPK, ExpDCG
from rankwood.metrics.parts.reciprocal_rank import RR
from rankwood.objectives.families.parameters import (
    DECAY,
    EXACT,
    GAIN,
    HESSIAN,
    LINEAR_CHANCE,
    LOGISTIC_NOISE,
    MAX_LABEL,
    NEIGHBOURS,
    NOISE_SCALE,
    PERMUTATIONS,
    REL,
    REQUIRED_K,
    SAME_VARIANT,
    SIGMA,
    VARIANT,
    K,
)
from rankwood.objectives.families.rows import STOPS, Family, binary, pairwise
from rankwood.objectives.parts.catboost_weights import YetiAP, YetiRR
from rankwood.objectives.parts.pairs import All, Neighbours, Top
from rankwood.objectives.parts.weights import Swap

_SHARED = (NEIGHBOURS, EXACT, SIGMA, LOGISTIC_NOISE, NOISE_SCALE, PERMUTATIONS, HESSIAN)
_OF_NDCG = """\
`neighbours` is the largest distance of ranks, or "all". With k, discounts end at k. CatBoost's weights
(`variant="catboost"`) are the same here, as they are for DCG and ERR."""
_OF_MRR = """\
`variant="catboost"` takes CatBoost's weights, which are the change of the metric for direct neighbours only."""
_OF_MAP = """\
`variant="catboost"` takes CatBoost's weights, with which the paper's results were made in all likelihood:
1/a for neighbours at a, which is not the change of the metric."""


def _near(values: Values, k: int | None) -> Any:
    if values.neighbours != "all":
        return Neighbours(values.neighbours, k, values.exact)
    return All() if k is None else Top(k)


def _near_in_first_k(values: Values) -> Any:
    return _near(values, values.k)


_row = partial(pairwise, pairs=_near_in_first_k, options=_SHARED)

# fmt: off
YETI = Family("YetiRank and YetiLoss", shared=_SHARED, rows=(
    _row("yetirank",
         "YetiRank: neighbours in noisy rankings, weighted by the change of a DCG that decays by position", "gulin2011",
         (K, DECAY), weight=lambda values: Swap(ExpDCG(base=values.decay)),
         details="k limits the better placed document to the first k positions."),
    _row("yetiloss-ndcg", "YetiLoss for NDCG: its change when neighbours in noisy rankings swap", "whichtricks2023",
         (K, GAIN, SAME_VARIANT), weight=lambda values: Swap(NDCG(values.k, values.gain)), details=_OF_NDCG),
    _row("yetiloss-dcg", "YetiLoss for DCG", "whichtricks2023",
         (K, GAIN, SAME_VARIANT), weight=lambda values: Swap(DCG(values.k, values.gain))),
    _row("yetiloss-mrr", "YetiLoss for the reciprocal rank", "whichtricks2023",
         (K, VARIANT, REL), labels=binary, details=_OF_MRR,
         weight=lambda values: Swap(RR(values.k)) if values.variant == "exact" else YetiRR()),
    _row("yetiloss-map", "YetiLoss for average precision", "whichtricks2023",
         (K, VARIANT, REL), labels=binary, details=_OF_MAP,
         weight=lambda values: Swap(AP(values.k)) if values.variant == "exact" else YetiAP()),
    _row("yetiloss-err", "YetiLoss for the expected reciprocal rank", "whichtricks2023",
         (K, LINEAR_CHANCE, MAX_LABEL, SAME_VARIANT),
         weight=lambda values: Swap(ERR(values.k, values.gain(values.max_label))), details=STOPS),
    _row("yetiloss-p", "YetiLoss for precision at k: neighbours on both sides of the cut in noisy rankings",
         "whichtricks2023", (REQUIRED_K, REL), weight=lambda values: Swap(Precision(values.k)), labels=binary),
    _row("yetiloss-arpk", "YetiLoss for the average relevance position beyond k", "whichtricks2023, lambdagap2025",
         (REQUIRED_K, REL), weight=lambda values: Swap(ARPK(values.k)), labels=binary,
         pairs=lambda values: _near(values, None),
         details="At least one of two neighbours is behind the first k in noisy rankings."),
))
