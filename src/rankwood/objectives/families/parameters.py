"""The parameters of named objectives, each described once; rows list which of them they take."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankwood._kernels.named import Parameter, choice
from rankwood._util import checks
from rankwood.metrics import registry as metrics
from rankwood.objectives._kernels.verbs import gap_weight
from rankwood.objectives.lists.stochastic import ESTIMATORS
from rankwood.objectives.parts.missed import DEFINITIONS
from rankwood.objectives.parts.noise import GaussianNoise, GumbelNoise, LogisticNoise, NoNoise
from rankwood.objectives.parts.rank_distances import Geometric

NOISES: Mapping[str, Any] = {
    "logistic": LogisticNoise,
    "gaussian": GaussianNoise,
    "gumbel": GumbelNoise,
    "none": NoNoise,
}


def at_least_1(value: Any, name: str) -> int:
    """Return an integer of at least 1."""
    return checks.at_least(value, 1, name)


def optional_cutoff(value: Any, name: str) -> int | None:
    """Return a cutoff: None, or an integer of at least 1."""
    return None if value is None else at_least_1(value, name)


def optional_delta(value: Any, name: str) -> str | None:
    """Return None, or one of the two words."""
    return None if value is None else DELTA.check(value, name)


def sum_metric(value: Any, name: str) -> Any:
    """Return a metric, given by its name or as a part."""
    return metrics.metric(value)


def gap_function(value: Any, name: str) -> Any:
    """Return a part that can `gap_weight`."""
    if not gap_weight.verb.able(value):
        raise checks.InputError(
            f"{name} must be a part that can 'gap_weight', such as Geometric(0.9), got {value!r}."
        )
    return value


def switch(value: Any, name: str) -> bool:
    """Return True or False."""
    return checks.one_of(value, (True, False), name)


def neighbours(value: Any, name: str) -> int | str:
    """Return the largest distance of the ranks of a pair, or "all"."""
    if isinstance(value, str) and value != "all":
        raise checks.InputError(f"{name} must be a number or 'all', got {value!r}.")
    return value if value == "all" else at_least_1(value, name)


def noise(value: Any, name: str) -> Any:
    """Return the class of the noise; without quotes, `none` is read as None."""
    return NOISES["none" if value is None else checks.one_of(value, NOISES, name)]


K = Parameter("k", None, optional_cutoff, "the cutoff: how many of the first documents matter")
REQUIRED_K = replace(
    K, check=at_least_1, description=f"{K.description}; it is needed", required=True
)
SIGMA = Parameter("sigma", 1.0, checks.positive, "steepness of the logistic loss")
NORM = Parameter("norm", True, switch, "LightGBM's normalisation, in two steps")
TRUNCATION = Parameter(
    "truncation",
    None,
    optional_cutoff,
    "a pair counts if its higher-ranked document is among the first `truncation`; without k: every pair",
    default_text="k",
)
GAIN, LINEAR_CHANCE = metrics.GAIN, metrics.LINEAR_CHANCE
REL = replace(
    metrics.REL, check=checks.positive, description="smallest relevant label of binary objectives"
)
MAX_LABEL = replace(metrics.MAX_LABEL, check=checks.positive)
MU = Parameter("mu", 1.0, checks.non_negative, "weight of the second term of hybrids (`+`, `++`)")
DISCOUNT = Parameter(
    "discount",
    "full",
    choice(("full", "truncated")),
    'discounts of all positions ("full"), or of the first k only ("truncated")',
)
VARIANT = Parameter(
    "variant",
    "exact",
    choice(("exact", "catboost")),
    'weights that are the change of the metric ("exact"), or those of CatBoost ("catboost")',
)
SAME_VARIANT = replace(VARIANT, note="CatBoost's is the same")
PAIRS = Parameter(
    "pairs",
    "ordered",
    choice(("ordered", "graded")),
    'every ordered pair ("ordered"), or those whose first document has the higher label ("graded")',
)
DELTA = Parameter(
    "delta",
    "exact",
    choice(("exact", "shifted")),
    'discounts of the distance of two ranks ("exact"), or of one rank more ("shifted")',
)
DELTA_OF_DEFINITION = Parameter(
    "delta",
    None,
    optional_delta,
    f'{DELTA.description}; by default, that of `definition`: "shifted" for "program", "exact" for "paper"',
    default_text="that of definition",
)
CUT = Parameter(
    "cut",
    "pairs",
    choice(("pairs", "weights")),
    'what k cuts: the set of pairs ("pairs"), or nothing, while pairs beyond k have larger weights ("weights")',
)
OF_METRIC = Parameter(
    "metric",
    "ndcg",
    sum_metric,
    "the metric, by its name or as a part: a sum of gain times discount of the rank",
)
PAIR_TRUNCATION = replace(
    TRUNCATION,
    description="a pair counts if its higher-ranked document is among the first `truncation`",
    default_text="",
)
GAP_FUNCTION = Parameter(
    "f",
    Geometric(),
    gap_function,
    "weight by the distance of the ranks from k on, a part such as `Geometric(0.9)`",
)
GAP_DEFINITION = Parameter(
    "definition",
    "program",
    choice(DEFINITIONS),
    'weights as in the authors\' program ("program"), or those that stand for P@k divided by k ("paper")',
)
MISSED_DEFINITION = Parameter(
    "definition",
    "program",
    choice(DEFINITIONS),
    'missed documents as counted by the authors\' program ("program"), or by their text ("paper")',
)
DECAY = Parameter("decay", 0.85, checks.fraction, "ratio of the discounts of consecutive positions")
NEIGHBOURS = Parameter(
    "neighbours", 1, neighbours, 'largest distance of the ranks of a pair, or "all"'
)
EXACT = Parameter(
    "exact",
    False,
    switch,
    'whether pairs at exactly that distance count, and not nearer ones; "all" are all either way',
)
NOISE = Parameter(
    "noise",
    "none",
    noise,
    '"logistic", "gaussian" or "gumbel": rank by noisy scores, with "gumbel" by the Plackett-Luce model',
)
LOGISTIC_NOISE = replace(NOISE, default="logistic")
NOISE_SCALE = Parameter(
    "noise_scale",
    1.0,
    checks.positive,
    'factor on the noise; the standard deviation of "gaussian", that of "logistic" is 1.81 times as large, '
    'that of "gumbel" 1.28 times',
)
PERMUTATIONS = Parameter("permutations", 10, at_least_1, "noisy rankings to draw")
HESSIAN = Parameter(
    "hessian", 1.0, checks.positive, "factor on the Hessian: 2 for XGBoost's, which doubles it"
)
STOCHASTIC_MU = Parameter(
    "mu", 0.0, checks.finite, "how far relevant documents are moved down before the noise is added"
)
SAMPLES = Parameter("samples", 1, at_least_1, "noisy rankings to draw")
ESTIMATOR = Parameter(
    "estimator",
    "projected",
    choice(ESTIMATORS),
    'gradient without the noise that all documents share ("projected"), or with it ("plain")',
)
SFA = Parameter(
    "sfa", 1.0, checks.non_negative, "share of the gradient along the scores that is removed"
)
NU = Parameter("nu", 0.01, checks.positive, "keeps that correction small if scores are near 0")
TEMPERATURE = Parameter(
    "temperature",
    1.0,
    checks.positive,
    "difference of scores at which two documents begin to look alike",
)

#: Parameters of every pairwise objective: noise on the ranking, and a factor on the Hessian.
RANKING_OPTIONS = (NOISE, NOISE_SCALE, PERMUTATIONS, HESSIAN)
#: Parameters that docs/objectives/common.md explains once for all names.
COMMON = (K, SIGMA, NORM, TRUNCATION, GAIN, REL, MU, *RANKING_OPTIONS)
