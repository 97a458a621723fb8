"""Reports: models compared with each other, and the result as a table for a page, a paper or a program."""

from rankwood.report.compare import compare
from rankwood.report.comparison import Comparison
from rankwood.report.files import read_evaluation
from rankwood.report.movers import QueryTable, movers, worst
from rankwood.report.presets import PRESETS
from rankwood.report.reference_models import perfect, random

#: The former name of `QueryTable`.
Queries = QueryTable

__all__ = [
    "PRESETS",
    "Comparison",
    "Queries",
    "QueryTable",
    "compare",
    "movers",
    "perfect",
    "random",
    "read_evaluation",
    "worst",
]
