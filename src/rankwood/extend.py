"""For authors of parts: everything an objective, a metric, a weight or a pair set of your own needs.

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

from rankwood._core.compile import inner, jit, uncounted, without_fastmath
from rankwood._core.each import each, fill_powers, highest, only, sum_of
from rankwood._core.elementary import exp, log
from rankwood._core.named import Parameter, choice
from rankwood._core.numeric import as_type_of
from rankwood._core.parts import ALL, Can, Fraction, NonNegative, OneOf, Positive, part
from rankwood._core.records import document, documents
from rankwood._core.rng import gumbel, mix, normal, odds, shuffle, uniform
from rankwood._core.sorting import make_sort_scratch, shell_sort, sort_down
from rankwood._core.verbs import verb
from rankwood.metrics.insertions import Insertions
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
    cross_hessian,
    embed,
    factors,
    largest_score,
    list_anchors,
    list_gradient,
    list_loss,
    look_up,
    pair_derivatives,
    pair_gradient,
    pair_losses,
    partners,
    perturb,
    prepare,
    scale,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.families.registry import register_objective
from rankwood.objectives.parts.labels import Labels
from rankwood.objectives.softmax import softmax

__all__ = [
    "ALL",
    "Can",
    "Divisor",
    "Fraction",
    "Gain",
    "InsertionMetric",
    "Insertions",
    "Labels",
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
    "cross_hessian",
    "divisor",
    "document",
    "documents",
    "each",
    "embed",
    "exp",
    "factors",
    "fill_powers",
    "gain",
    "gumbel",
    "highest",
    "inner",
    "insertion_record",
    "jit",
    "label_values",
    "largest_score",
    "list_anchors",
    "list_gradient",
    "list_loss",
    "log",
    "look_up",
    "make_sort_scratch",
    "mean_over_ties",
    "mix",
    "normal",
    "odds",
    "only",
    "pair_derivatives",
    "pair_gradient",
    "pair_losses",
    "part",
    "partners",
    "perturb",
    "prepare",
    "register_metric",
    "register_objective",
    "scale",
    "seen_by",
    "shell_sort",
    "shuffle",
    "softmax",
    "sort_down",
    "sum_of",
    "swap_delta",
    "swap_record",
    "uncounted",
    "uniform",
    "value",
    "verb",
    "weight",
    "weight_above",
    "without_fastmath",
]
