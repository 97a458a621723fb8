"""RankNet, and LambdaRank for any metric, by name."""

from typing import Any

from rankwood._kernels.named import Named, Values
from rankwood._util import checks
from rankwood.metrics.parts.binary import AP
from rankwood.metrics.parts.cascade import ERR
from rankwood.metrics.parts.dcg import NDCG
from rankwood.metrics.parts.gains import LinearChance
from rankwood.metrics.parts.position import ARPK
from rankwood.metrics.parts.reciprocal_rank import RR
from rankwood.objectives.families.parameters import (
    DISCOUNT,
    GAIN,
    GAP_DEFINITION,
    LINEAR_CHANCE,
    MAX_LABEL,
    NORM,
    REL,
    REQUIRED_K,
    SIGMA,
    TRUNCATION,
    VARIANT,
    K,
)
from rankwood.objectives.families.rows import (
    STOPS,
    Family,
    binary,
    by_definition,
    every_pair,
    pairwise,
    swap_ndcg,
)
from rankwood.objectives.lists.given_pairs import RankNetPairs
from rankwood.objectives.parts.catboost_weights import CatBoostAP, CatBoostERR, CatBoostRR
from rankwood.objectives.parts.pairs import AcrossCutoff, ReachingBelow
from rankwood.objectives.parts.weights import Swap, Uniform

_OF_NDCG = """\
Pairs whose better placed document is within `truncation` (k if not given) are weighted by the change of NDCG
when the two swap. As in LightGBM, the ideal is cut at k but the discounts are not; `discount="truncated"` cuts
both, which is the true change of NDCG@k. `norm` is LightGBM's two-step normalisation."""
_OF_PRECISION = """\
Pairs with one document among the first k and one behind, all with weight 1 (the change of P@k times k);
`definition="paper"` divides it by k, as the formula does and the authors' program does not. The first k are
selected, not sorted."""
_CATBOOST = """\
`variant="catboost"` takes the weights of CatBoost's LambdaMart, which are not the change of the metric."""


def _uniform(values: Values) -> Uniform:
    return Uniform()


def _ndcg(values: Values) -> Swap:
    return (
        Swap(NDCG(values.k, values.gain)) if values.discount == "truncated" else swap_ndcg(values)
    )


def _by_variant(values: Values, exact: Any, catboost: Any) -> Any:
    """Return one of two weights: the change of the metric, or what CatBoost computes."""
    if values.variant == "catboost" and values.k is not None:
        raise checks.InputError("variant='catboost' has no cutoff; omit @k or give truncation=.")
    return exact if values.variant == "exact" else catboost


def _err(values: Values) -> Any:
    if values.variant == "catboost" and values.gain is not LinearChance:
        raise checks.InputError("variant='catboost' of lambdarank-err has gain='linear' only.")
    exact = Swap(ERR(values.k, values.gain(values.max_label)))
    return _by_variant(values, exact, CatBoostERR(values.max_label))


# fmt: off
RANKNET = Family("RankNet", (
    pairwise("ranknet", "RankNet: every pair of different labels counts the same", "burges2005",
             (SIGMA, NORM), weight=_uniform, pairs=every_pair),
    pairwise("bin-ranknet", "RankNet on relevant and irrelevant documents", "lambdagap2025",
             (SIGMA, NORM, REL), weight=_uniform, pairs=every_pair, labels=binary,
             details="Labels of at least `rel` are relevant; no pair inside a class is visited."),
    Named("ranknet-pairs", "RankNet on the pairs of `RankingData.pairs`, which count by their weights", "burges2005",
          (), lambda values: RankNetPairs(), "Labels aren't read. CatBoost calls it PairLogit with pairs."),
))

LAMBDARANK = Family("LambdaRank", (
    pairwise("lambdarank-ndcg", "LambdaRank for NDCG, the objective of LambdaMART", "burges2006, burges2010",
             (K, SIGMA, NORM, TRUNCATION, GAIN, DISCOUNT), weight=_ndcg, details=_OF_NDCG),
    pairwise("lambdarank-bndcg", "LambdaRank for NDCG of binary labels", "lambdagap2025",
             (K, SIGMA, NORM, TRUNCATION, REL), weight=swap_ndcg, labels=binary),
    pairwise("lambdarank-p", "LambdaRank for precision at k", "lambdagap2025",
             (REQUIRED_K, SIGMA, NORM, GAP_DEFINITION, REL),
             weight=lambda values: by_definition(values, Uniform()),
             pairs=lambda values: AcrossCutoff(values.k), labels=binary, details=_OF_PRECISION),
    pairwise("lambdarank-arpk", "LambdaRank for the average relevance position beyond k", "lambdagap2025",
             (REQUIRED_K, SIGMA, NORM, REL), weight=lambda values: Swap(ARPK(values.k)),
             pairs=lambda values: ReachingBelow(values.k), labels=binary),
    pairwise("lambdarank-map", "LambdaRank for average precision", "burges2010, whichtricks2023",
             (K, SIGMA, NORM, TRUNCATION, VARIANT, REL),
             weight=lambda values: _by_variant(values, Swap(AP(values.k)), CatBoostAP()),
             labels=binary, details=_CATBOOST),
    pairwise("lambdarank-mrr", "LambdaRank for the reciprocal rank", "burges2010, whichtricks2023",
             (K, SIGMA, NORM, TRUNCATION, VARIANT, REL),
             weight=lambda values: _by_variant(values, Swap(RR(values.k)), CatBoostRR()),
             labels=binary, details=_CATBOOST),
    pairwise("lambdarank-err", "LambdaRank for the expected reciprocal rank", "chapelle2009, whichtricks2023",
             (K, SIGMA, NORM, TRUNCATION, VARIANT, LINEAR_CHANCE, MAX_LABEL),
             weight=_err, details=f"{STOPS}\n{_CATBOOST}"),
))
