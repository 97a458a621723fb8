"""The LambdaLoss family by name."""

from typing import Any

from rankwood._kernels.named import Values
from rankwood._util import checks
from rankwood.objectives.families.parameters import (
    CUT,
    DELTA,
    GAIN,
    MU,
    NORM,
    OF_METRIC,
    PAIR_TRUNCATION,
    PAIRS,
    REL,
    SIGMA,
    TRUNCATION,
    K,
)
from rankwood.objectives.families.rows import (
    Family,
    binary,
    every_pair,
    pairwise,
    swap_ndcg,
    training_ndcg,
    within_truncation,
)
from rankwood.objectives.parts.ndcg_loss import NDCGLoss1, NDCGLoss2
from rankwood.objectives.parts.pairs import All, BothDirections, Top
from rankwood.objectives.parts.rank_distances import CutoffMultiplier
from rankwood.objectives.parts.weights import LabelGap, Sum, Swap, WinnerLabel

_OF_ARP1 = """\
Every ordered pair counts, with the label of its first document; `pairs="graded"` keeps those whose first document
has the higher label, a different loss under the same name [lambdagap2025]."""

_OF_LOSS2 = """\
`delta="shifted"` is off by one rank, as the programs behind two later papers are. `cut="weights"` is LambdaLoss@k
of [jagerman2022]: every pair counts, and those that reach beyond k count more, so that the loss bounds NDCG@k."""
_OF_METRIC = """\
`metric` is one such as rbp(p=0.9), expdcg, p@10, arpk@10 or mrr, with its own cutoff; the reciprocal rank is a sum
if one document is relevant."""


def ndcg_loss2(values: Values) -> NDCGLoss2:
    """The weight of NDCG-Loss2."""
    return NDCGLoss2(training_ndcg(values), values.delta)


def ndcg_loss2_plus_plus(values: Values) -> Sum:
    """The weight of NDCG-Loss2++: LambdaRank's plus `mu` times that of NDCG-Loss2."""
    return Sum(swap_ndcg(values), ndcg_loss2(values), values.mu)


def _arp1_pairs(values: Values) -> Any:
    return BothDirections(All()) if values.pairs == "ordered" else All()


def _loss2_at_k(values: Values) -> Any:
    """The weight of NDCG-Loss2, with larger weights beyond k if it is these that cut."""
    if values.cut == "pairs":
        return ndcg_loss2(values)
    if values.k is None:
        raise checks.InputError("cut='weights' needs a cutoff: write @10, or give k=10.")
    return CutoffMultiplier(ndcg_loss2(values), values.k)


def _pairs_at_k(values: Values) -> Any:
    return within_truncation(values) if values.cut == "pairs" else _of_truncation(values)


def _of_truncation(values: Values) -> Any:
    return All() if values.truncation is None else Top(values.truncation)


def _loss2_of_metric(values: Values) -> NDCGLoss2:
    return NDCGLoss2(values.metric, values.delta)


def _loss2_plus_plus_of_metric(values: Values) -> Sum:
    return Sum(Swap(values.metric), _loss2_of_metric(values), values.mu)


# fmt: off
LAMBDALOSS = Family("LambdaLoss", (
    pairwise("lambdaloss-arp1", "ARP-Loss1, a bound of the average relevance position", "wang2018",
             (SIGMA, NORM, PAIRS), weight=lambda values: WinnerLabel(), pairs=_arp1_pairs, details=_OF_ARP1),
    pairwise("lambdaloss-arp2", "ARP-Loss2: pairs weighted by the distance of their labels", "wang2018",
             (SIGMA, NORM), weight=lambda values: LabelGap(), pairs=every_pair),
    pairwise("lambdaloss-ndcg1", "NDCG-Loss1: every ordered pair, with what its first document adds to NDCG",
             "wang2018", (K, SIGMA, NORM, TRUNCATION, GAIN), weight=lambda values: NDCGLoss1(training_ndcg(values)),
             pairs=lambda values: BothDirections(within_truncation(values))),
    pairwise("lambdaloss-ndcg", "NDCG-Loss2: a bound of NDCG from the distance of the ranks", "wang2018",
             (K, SIGMA, NORM, TRUNCATION, GAIN, DELTA, CUT), weight=_loss2_at_k, pairs=_pairs_at_k, details=_OF_LOSS2),
    pairwise("lambdaloss-ndcg++", "NDCG-Loss2++: LambdaRank's weight plus mu times that of NDCG-Loss2", "wang2018",
             (K, MU, SIGMA, NORM, TRUNCATION, GAIN, DELTA), weight=ndcg_loss2_plus_plus),
    pairwise("lambdaloss-bndcg", "NDCG-Loss2 on binary labels", "wang2018, lambdagap2025",
             (K, SIGMA, NORM, TRUNCATION, DELTA, CUT, REL), weight=_loss2_at_k, pairs=_pairs_at_k, labels=binary),
    pairwise("lambdaloss-bndcg++", "NDCG-Loss2++ on binary labels", "wang2018, lambdagap2025",
             (K, MU, SIGMA, NORM, TRUNCATION, DELTA, REL), weight=ndcg_loss2_plus_plus, labels=binary),
    pairwise("lambdaloss1", "Loss1 of any metric that is a sum of gain times discount", "wang2018",
             (OF_METRIC, SIGMA, NORM, PAIR_TRUNCATION), weight=lambda values: NDCGLoss1(values.metric),
             pairs=lambda values: BothDirections(_of_truncation(values)), details=_OF_METRIC),
    pairwise("lambdaloss2", "Loss2 of any metric that is a sum of gain times discount", "wang2018, lambdagap2025",
             (OF_METRIC, SIGMA, NORM, PAIR_TRUNCATION, DELTA), weight=_loss2_of_metric, pairs=_of_truncation,
             details=_OF_METRIC),
    pairwise("lambdaloss2++", "Loss2++ of any metric: LambdaRank's weight plus mu times that of Loss2", "wang2018",
             (OF_METRIC, MU, SIGMA, NORM, PAIR_TRUNCATION, DELTA), weight=_loss2_plus_plus_of_metric,
             pairs=_of_truncation, details=_OF_METRIC),
))
