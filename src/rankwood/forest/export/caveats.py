"""What a person must know of one exported file: what is exact, what is not, and what the target wants."""

from collections.abc import Iterator

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.data.tables.schema import numbered_names
from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import ExportedModel, features_by_missing, lowest_score
from rankwood.forest.export.target_table import Target

_MAXIMUM_OF_ZOOKEEPER = 1_000_000
_CACHE_OF_PLUGIN = 2000 * 127  # nodes and leaves that its cache of 10 MB holds
_LARGEST_WHOLE = 2.0**24  # float32 has all whole numbers up to here
#: LightGBM's split at 0, and float32 numbers next to 0, are no values of a feature.
_NEARLY_ZERO = 1.1e-35
#: The largest part of a threshold by which Solr may miss it.
_MISS = 1e-3


def guarantee(format: str, target: Target, model: ExportedModel) -> str:
    """Return what holds for every document."""
    if model.zeroed:
        rest = guarantee(format, target, model._replace(zeroed=False))
        return f"missing values go where 0 goes; without any, {rest}"
    forest = model.forest
    moved = f" plus {model.shift:.6g}" if model.shift else ""
    if format in ("c", "json"):
        return f"every document keeps its leaves and its score{moved}, bit for bit"
    if format == "onnx":
        close = "a float32 close to it" if forest.float32_sum else "the nearest float32"
        return f"every document keeps its leaves; its score{moved} is {close}"
    kind = "finite float32 numbers" if _reads_float32(format, target, model) else "finite"
    missing = " or missing" if target.missing else ", none missing,"
    limit = ""
    if format == "solr" and _misses(forest.threshold).any():
        limit = ", but for the thresholds below"
    return f"every document whose features are {kind}{missing} keeps its leaves{limit}"


def _reads_float32(format: str, target: Target, model: ExportedModel) -> bool:
    """Return whether features between two float32 may change their side."""
    # Vespa has features of doubles, and thresholds of float32.
    return target.float32 and (format == "vespa" or not model.forest.float32_input)


def caveats(format: str, target: Target, model: ExportedModel, size: int) -> list[str]:
    """Return what is different in the target, and what has to be done there, a sentence each."""
    numbered = [
        "The model has no names of features: f1 is feature 1 of LETOR files and column 0 of an array, and so on."
    ]
    unnamed = target.named and list(model.names) == numbered_names(len(model.names))
    of_target = _OF_TARGET.get(format, lambda *_: ())
    return [
        *(numbered if unnamed else []),
        *_widths(format, target, model),
        *of_target(model, size),
    ]


def _widths(format: str, target: Target, model: ExportedModel) -> Iterator[str]:
    """Yield what float32 means for features, sums and scores."""
    forest = model.forest
    if _reads_float32(format, target, model):
        large = np.abs(forest.threshold) > _LARGEST_WHOLE
        large &= np.abs(forest.threshold) <= cuts.LARGEST32
        columns = np.unique(forest.feature[large & ~forest.categorical]).tolist()
        if columns:
            yield (
                f"Feature {model.names[columns[0]]!r} is split beyond 16,777,216, where float32 has not all whole "
                "numbers: subtract a constant in training and in the target, or divide it."
            )
    if target.float32_sum:
        step = float(np.spacing(np.float32(max(1e-30, abs(lowest_score(forest))))))
        yield f"Scores are added in float32: documents whose scores differ by less than about {step:.0e} may swap."
    elif target.float32_score:
        yield "The score is rounded to float32: documents may tie there that did not tie here."


def _elasticsearch(model: ExportedModel, size: int) -> Iterator[str]:
    yield "An infinite feature counts as missing, as does the feature of a query that doesn't match."
    lacking = [n for n in (model.names[c] for c in model.used) if n not in (model.queries or {})]
    if lacking:
        yield (
            f"{plural(len(lacking), 'feature')} have the placeholder replace_me for a query, which the server refuses: "
            "give queries= with Elasticsearch's query of each feature, or edit feature_extractors."
        )
    if model.shift == 0 and lowest_score(model.forest) < 0:
        yield "Versions before 8.19 and 9.1 take no negative scores: export with positive=True for them."
    yield "The upload needs an Enterprise licence or a trial; versions before 8.15 need input.field_names too."


def _ltr_plugin(model: ExportedModel, size: int) -> Iterator[str]:
    if features_by_missing(model.forest).size:
        yield "Elasticsearch-LTR before 1.5.9 and OpenSearch-LTR before 3.2 read a missing feature as 0."
    if model.forest.missing_left.any():
        yield (
            "OpenSearch-LTR 3.2 to 3.7 sends missing features right, whatever the model says: upgrade to 3.8, or let "
            "every feature match."
        )
    if model.forest.leaf_value.size + model.forest.feature.size > _CACHE_OF_PLUGIN:
        yield "The model may not fit into the plugin's cache: raise ltr.caches.max_mem."
    yield "Replace FEATURE_SET by the feature set that has these features by name."


def check_solr(model: ExportedModel) -> None:
    """Raise if Solr misses a threshold by so much that it joins values of a feature."""
    forest = model.forest
    want = np.abs(cuts.floor32(forest.threshold).astype(np.float64))
    joined = (_misses(forest.threshold) > _MISS * want) & (want > _NEARLY_ZERO)
    if joined.any():
        node = int(np.flatnonzero(joined)[0])
        raise checks.InputError(
            f"feature {model.names[forest.feature[node]]!r} is split at {forest.threshold[node]:.3g}, and Solr can't "
            "tell numbers apart that are closer than 1e-13 there: multiply the feature in training and in Solr, or "
            "give approximate=True."
        )


def _misses(threshold: np.ndarray) -> np.ndarray:
    """Return how far what Solr compares with is below each threshold."""
    want = cuts.at_most_float32(threshold).threshold.astype(np.float64)
    with np.errstate(over="ignore"):
        compared = cuts.at_most_solr(threshold).threshold + cuts.SLACK
    return want - compared


def _solr(model: ExportedModel, size: int) -> Iterator[str]:
    miss = _misses(model.forest.threshold)
    if miss.any():
        yield (
            f"{plural(int((miss > 0).sum()), 'threshold')} can be met only up to {miss.max():.1e}: a feature "
            "that close to the threshold may go to the other side."
        )
    yield 'Features that may be missing need "defaultValue":"NaN" in the feature store; this needs Solr 9.2.'
    if size > _MAXIMUM_OF_ZOOKEEPER:
        yield (
            "The model is larger than ZooKeeper's 1 MB: copy the file into a folder of sharedLib, and upload "
            '{"class":"org.apache.solr.ltr.model.DefaultWrapperModel","name":"'
            f'{model.name}","params":{{"resource":"FILE"}}}} in its place.'
        )
    yield "Reload the collection after the upload."


def _vespa(model: ExportedModel, size: int) -> Iterator[str]:
    if model.forest.categorical.any():
        yield "Categorical features must be string attributes; a word that the model doesn't know goes right."


def _ranklib(model: ExportedModel, size: int) -> Iterator[str]:
    yield "A missing feature is 0."
    yield "Features are numbered from 1, in the order of the columns, or of the feature set of a plugin."


_OF_TARGET = {
    "elasticsearch": _elasticsearch,
    "ltr-plugin": _ltr_plugin,
    "solr": _solr,
    "vespa": _vespa,
    "ranklib": _ranklib,
}
