"""The table of targets: which module writes each, and what each can express."""

from importlib import import_module
from typing import Any, NamedTuple

from rankwood._core import checks


class Target(NamedTuple):
    """What is known of a target before anything is written."""

    #: Module below `rankwood.export`, with `trees`, `write`, `read`, `semantics` and `upload`.
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
    "onnx": Target("onnx_model", "ONNX", float32_score=True),
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


def module_of(target: Target) -> Any:
    """Return the module that writes a target's files."""
    return import_module(f"rankwood.export.{target.module}")
