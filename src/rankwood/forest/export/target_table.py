"""The table of targets: which module writes each, and what each can express."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from rankwood._util import checks

if TYPE_CHECKING:
    from rankwood.engines.model_trees.arrays import TreeArrays
    from rankwood.forest.export.exported_model import ExportedModel
    from rankwood.forest.export.reference import Semantics


class TargetModule(Protocol):
    """What the module of a target has."""

    def trees(self, model: "ExportedModel") -> "TreeArrays":
        """Return the trees as the target has them."""

    def write(self, model: "ExportedModel") -> Iterator[str | bytes]:
        """Yield the file."""

    def read(self, content: Any, names: tuple[str, ...]) -> "TreeArrays":
        """Return the trees of a file; a constant may be one more tree of one leaf."""

    def semantics(self, model: "ExportedModel") -> "tuple[Semantics, ...]":
        """Return how the target scores, by evaluator."""

    def upload(self, model: "ExportedModel", path: str) -> str:
        """Return the request or command that uses a file."""


class Target(NamedTuple):
    """What is known of a target before anything is written."""

    #: Name of a `TargetModule` below `targets`.
    module: str
    title: str
    #: Whether splits name their features.
    named: bool = True
    #: Whether it has splits on categories.
    categories: bool = False
    #: Whether missing values have a side of their own; otherwise they are 0.
    missing: bool = True
    #: Whether scores are shifted by default so that none is negative.
    positive: bool = False
    #: Whether features or thresholds are float32.
    float32: bool = False
    #: Whether leaves are float32 and added in float32.
    float32_sum: bool = False
    #: Whether the score itself is rounded to float32.
    float32_score: bool = False
    #: Whether the file is no text.
    binary: bool = False


#: All targets by name.
TARGETS = {
    "elasticsearch": Target(
        "elasticsearch", "Elasticsearch's own learning to rank", float32_score=True
    ),
    "ltr-plugin": Target(
        "ltr_plugin",
        "the plugins Elasticsearch-LTR and OpenSearch-LTR",
        positive=True,
        float32=True,
        float32_sum=True,
    ),
    "solr": Target("solr", "Solr", float32=True, float32_sum=True),
    "vespa": Target("vespa", "Vespa", categories=True, float32=True),
    "ranklib": Target(
        "ranklib", "RankLib", named=False, missing=False, float32=True, float32_sum=True
    ),
    "onnx": Target("onnx_model", "ONNX", float32_score=True, binary=True),
    "c": Target("c_source", "C", categories=True),
    "json": Target("json_arrays", "JSON", categories=True),
}


def target_of(format: Any) -> Target:
    """Return a target, or raise if there is none of this name."""
    if not isinstance(format, str) or format not in TARGETS:
        raise checks.InputError(
            f"unknown format {format!r}{checks.nearest(str(format), list(TARGETS))}"
        )
    return TARGETS[format]


def module_of(target: Target) -> TargetModule:
    """Return the module that writes a target's files."""
    module: Any = import_module(f"rankwood.forest.export.targets.{target.module}")
    return cast(TargetModule, module)
