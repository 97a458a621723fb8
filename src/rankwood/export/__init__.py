"""Models for other programs: search engines, RankLib, ONNX, C, JSON. `Ranker.export` writes them."""

from rankwood.export.checking import Check
from rankwood.export.report import ExportReport
from rankwood.export.targets import TARGETS

__all__ = ["TARGETS", "Check", "ExportReport"]
