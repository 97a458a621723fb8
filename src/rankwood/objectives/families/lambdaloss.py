"""The LambdaLoss family by name."""

from typing import Any

from rankwood._kernels.named import Values
from rankwood.objectives.families.parameters import (
    DELTA,
    GAIN,
    MU,
    NORM,
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
from rankwood.objectives.parts.pairs import All, BothDirections
from rankwood.objectives.parts.weights import LabelGap, Sum, WinnerLabel

_OF_ARP1 = """\
Every ordered pair counts, with the label of its first document; `pairs="graded"` keeps those whose first document
has the higher label, a different loss under the same name [lambdagap2025]."""


def ndcg_loss2(values: Values) -> NDCGLoss2:
    """The weight of NDCG-Loss2."""
    return NDCGLoss2(training_ndcg(values), values.delta)


def ndcg_loss2_plus_plus(values: Values) -> Sum:
    """The weight of NDCG-Loss2++: LambdaRank's plus `mu` times that of NDCG-Loss2."""
    return Sum(swap_ndcg(values), ndcg_loss2(values), values.mu)


def _arp1_pairs(values: Values) -> Any:
    return BothDirections(All()) if values.pairs == "ordered" else All()


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
             (K, SIGMA, NORM, TRUNCATION, GAIN, DELTA), weight=ndcg_loss2,
             details='`delta="shifted"` is off by one rank, as the programs behind two later papers are.'),
    pairwise("lambdaloss-ndcg++", "NDCG-Loss2++: LambdaRank's weight plus mu times that of NDCG-Loss2", "wang2018",
             (K, MU, SIGMA, NORM, TRUNCATION, GAIN, DELTA), weight=ndcg_loss2_plus_plus),
    pairwise("lambdaloss-bndcg", "NDCG-Loss2 on binary labels", "wang2018, lambdagap2025",
             (K, SIGMA, NORM, TRUNCATION, DELTA, REL), weight=ndcg_loss2, labels=binary),
    pairwise("lambdaloss-bndcg++", "NDCG-Loss2++ on binary labels", "wang2018, lambdagap2025",
             (K, MU, SIGMA, NORM, TRUNCATION, DELTA, REL), weight=ndcg_loss2_plus_plus, labels=binary),
))
