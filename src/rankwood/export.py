"""Models for other programs: search engines, RankLib, ONNX, C, JSON. `Ranker.export` writes them."""

from rankwood.forest.export.export_report import ExportReport
from rankwood.forest.export.row_check import Check
from rankwood.forest.export.target_table import TARGETS

__all__ = ["TARGETS", "Check", "ExportReport"]
