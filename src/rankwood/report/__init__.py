"""Reports: models compared with each other, and the result as a table for a page, a paper or a program."""

from rankwood.report.comparison.compare import compare
from rankwood.report.comparison.comparison import Comparison
from rankwood.report.comparison.files import read_evaluation
from rankwood.report.comparison.presets import PRESETS, ComparisonRules
from rankwood.report.comparison.reference_models import perfect, random
from rankwood.report.movers import QueryTable, movers, worst

__all__ = [
    "PRESETS",
    "Comparison",
    "ComparisonRules",
    "QueryTable",
    "compare",
    "movers",
    "perfect",
    "random",
    "read_evaluation",
    "worst",
]
