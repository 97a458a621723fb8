"""For authors: everything an objective, a metric, a weight, a pair set or a learner of your own needs.

A *part* is a class whose methods kernels call; a *verb* is such a method's name. `docs/architecture.md` lists the verbs
with their arguments, and `rankwood.testing.check_part` checks a part against them.

Examples
--------
A weight, in an objective that trains like any other:

>>> import rankwood as rw
>>> from rankwood.extend import part
>>> from rankwood.objectives import Lambda, Top
>>> @part
... class Product:
...     '''The product of two labels plus one.'''
...     def weight(self, a, b):
...         return (a.label + 1) * (b.label + 1)
>>> rw.gradients(Lambda(weight=Product(), pairs=Top(10)), [2, 0], [0.0, 0.0])[0].tolist()
[-1.5, 1.5]
"""

from rankwood._kernels.compile.jit import inner, uncounted
from rankwood._kernels.each import each, fill_powers, highest, on_team, only, sum_of
from rankwood._kernels.named import Parameter, choice
from rankwood._kernels.numeric.elementary import exp, log
from rankwood._kernels.numeric.rng import gumbel, mix, normal, odds, shuffle, uniform
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.numeric.sorting import sort_down
from rankwood._kernels.parts import ALL, Can, Fraction, NonNegative, OneOf, Positive, part
from rankwood._kernels.records import document, documents
from rankwood.engines.learned_model import LearnedModel
from rankwood.engines.registered import GradientLearner, register_learner
from rankwood.metrics.parts.insertions import Insertions
from rankwood.metrics.ranked import Ranked
from rankwood.metrics.registry import register_metric
from rankwood.metrics.verbs import (
    Divisor,
    Gain,
    InsertionMetric,
    SwapMetric,
    as_relevance,
    divisor,
    gain,
    insertion_record,
    label_values,
    mean_over_ties,
    rank_discount,
    swap_delta,
    swap_record,
    value,
)
from rankwood.objectives._kernels.records import PairDerivatives, beside
from rankwood.objectives._kernels.verbs import (
    Loss,
    Noise,
    Pairs,
    Scale,
    Weight,
    count_anchors,
    gap_weight,
    list_anchors,
    pair_derivatives,
    partners,
    perturb,
    prepare,
    weight,
    weight_above,
)
from rankwood.objectives.families.registry import register_objective
from rankwood.objectives.lists.softmax import softmax
from rankwood.objectives.parts.labels import Labels

__all__ = [
    "ALL",
    "Can",
    "Divisor",
    "Fraction",
    "Gain",
    "GradientLearner",
    "InsertionMetric",
    "Insertions",
    "Labels",
    "LearnedModel",
    "Loss",
    "Noise",
    "NonNegative",
    "OneOf",
    "PairDerivatives",
    "Pairs",
    "Parameter",
    "Positive",
    "Ranked",
    "Scale",
    "SwapMetric",
    "Weight",
    "as_relevance",
    "as_type_of",
    "beside",
    "choice",
    "count_anchors",
    "divisor",
    "document",
    "documents",
    "each",
    "exp",
    "fill_powers",
    "gain",
    "gap_weight",
    "gumbel",
    "highest",
    "inner",
    "insertion_record",
    "label_values",
    "list_anchors",
    "log",
    "mean_over_ties",
    "mix",
    "normal",
    "odds",
    "on_team",
    "only",
    "pair_derivatives",
    "part",
    "partners",
    "perturb",
    "prepare",
    "rank_discount",
    "register_learner",
    "register_metric",
    "register_objective",
    "shuffle",
    "softmax",
    "sort_down",
    "sum_of",
    "swap_delta",
    "swap_record",
    "uncounted",
    "uniform",
    "value",
    "weight",
    "weight_above",
]
