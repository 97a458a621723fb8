"""What a person must know of one exported file: what is exact, what is not, and what the target wants."""

from collections.abc import Iterator

import numpy as np

from rankwood._core import checks
from rankwood._core.text import plural
from rankwood.export import rules
from rankwood.export.source import Source, features_by_missing, lowest_score
from rankwood.export.targets import Target

_MAXIMUM_OF_ZOOKEEPER = 1_000_000
_CACHE_OF_PLUGIN = 2000 * 127  # nodes and leaves that its cache of 10 MB holds
_LARGEST_WHOLE = 2.0**24  # float32 has all whole numbers up to here
#: LightGBM's split at 0, and float32 numbers next to 0, are no values of a feature.
_NEARLY_ZERO = 1.1e-35
#: The largest part of a threshold by which Solr may miss it.
_MISS = 1e-3


def exact(format: str, target: Target, source: Source) -> str:
    """Return what holds for every document."""
    if source.zeroed:
        rest = exact(format, target, source._replace(zeroed=False))
        return f"missing values go where 0 goes; without any, {rest}"
    forest = source.forest
    moved = f" plus {source.shift:.6g}" if source.shift else ""
    if format in ("c", "json"):
        return f"every document keeps its leaves and its score{moved}, bit for bit"
    if format == "onnx":
        close = "a float32 close to it" if forest.float32_sum else "the nearest float32"
        return f"every document keeps its leaves; its score{moved} is {close}"
    kind = "finite float32 numbers" if _reads_float32(format, target, source) else "finite"
    missing = " or missing" if target.missing else ", none missing,"
    limit = ""
    if format == "solr" and _misses(forest.threshold).any():
        limit = ", but for the thresholds below"
    return f"every document whose features are {kind}{missing} keeps its leaves{limit}"


def _reads_float32(format: str, target: Target, source: Source) -> bool:
    """Return whether features between two float32 may change their side."""
    # Vespa has features of doubles, and thresholds of float32.
    return target.float32 and (format == "vespa" or not source.forest.float32_input)


def notes(format: str, target: Target, source: Source, size: int) -> list[str]:
    """Return what is different in the target, and what has to be done there, a sentence each."""
    named = [
        "The model has no names of features: f0 is feature 1 of LETOR files, f1 feature 2, and so on."
    ]
    plain = target.named and source.names == tuple(f"f{i}" for i in range(len(source.names)))
    own = _OWN.get(format, lambda *_: ())
    return [*(named if plain else []), *_widths(format, target, source), *own(source, size)]


def _widths(format: str, target: Target, source: Source) -> Iterator[str]:
    """Yield what float32 means for features, sums and scores."""
    forest = source.forest
    if _reads_float32(format, target, source):
        large = np.abs(forest.threshold) > _LARGEST_WHOLE
        large &= np.abs(forest.threshold) <= rules.LARGEST32
        columns = np.unique(forest.feature[large & ~forest.categorical]).tolist()
        if columns:
            yield (
                f"Feature {source.names[columns[0]]!r} is split beyond 16,777,216, where float32 has not all whole "
                "numbers: subtract a constant in training and in the target, or divide it."
            )
    if target.float32_sum:
        step = float(np.spacing(np.float32(max(1e-30, abs(lowest_score(forest))))))
        yield f"Scores are added in float32: documents whose scores differ by less than about {step:.0e} may swap."
    elif target.float32_score:
        yield "The score is rounded to float32: documents may tie there that did not tie here."


def _elasticsearch(source: Source, size: int) -> Iterator[str]:
    yield "An infinite feature counts as missing, as does the feature of a query that doesn't match."
    lacking = [n for n in (source.names[c] for c in source.used) if n not in (source.queries or {})]
    if lacking:
        yield (
            f"{plural(len(lacking), 'feature')} have the placeholder replace_me for a query, which the server refuses: "
            "give queries= with Elasticsearch's query of each feature, or edit feature_extractors."
        )
    if source.shift == 0 and lowest_score(source.forest) < 0:
        yield "Versions before 8.19 and 9.1 take no negative scores: export with positive=True for them."
    yield "The upload needs an Enterprise licence or a trial; versions before 8.15 need input.field_names too."


def _ltr_plugin(source: Source, size: int) -> Iterator[str]:
    if features_by_missing(source.forest).size:
        yield "Elasticsearch-LTR before 1.5.9 and OpenSearch-LTR before 3.2 read a missing feature as 0."
    if source.forest.missing_left.any():
        yield (
            "OpenSearch-LTR 3.2 to 3.7 sends missing features right, whatever the model says: upgrade to 3.8, or let "
            "every feature match."
        )
    if source.forest.leaf_value.size + source.forest.feature.size > _CACHE_OF_PLUGIN:
        yield "The model may not fit into the plugin's cache: raise ltr.caches.max_mem."
    yield "Replace FEATURE_SET by the feature set that has these features by name."


def check_solr(source: Source) -> None:
    """Raise if Solr misses a threshold by so much that it joins values of a feature."""
    forest = source.forest
    want = np.abs(rules.floor32(forest.threshold).astype(np.float64))
    joined = (_misses(forest.threshold) > _MISS * want) & (want > _NEARLY_ZERO)
    if joined.any():
        node = int(np.flatnonzero(joined)[0])
        raise checks.InputError(
            f"feature {source.names[forest.feature[node]]!r} is split at {forest.threshold[node]:.3g}, and Solr can't "
            "tell numbers apart that are closer than 1e-13 there: multiply the feature in training and in Solr, or "
            "give approximate=True."
        )


def _misses(threshold: np.ndarray) -> np.ndarray:
    """Return how far what Solr compares with is below each threshold."""
    want = rules.at_most_float32(threshold).threshold.astype(np.float64)
    with np.errstate(over="ignore"):
        compared = rules.at_most_solr(threshold).threshold + rules.SLACK
    return want - compared


def _solr(source: Source, size: int) -> Iterator[str]:
    miss = _misses(source.forest.threshold)
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
            f'{source.name}","params":{{"resource":"FILE"}}}} in its place.'
        )
    yield "Reload the collection after the upload."


def _vespa(source: Source, size: int) -> Iterator[str]:
    if source.forest.categorical.any():
        yield "Categorical features must be string attributes; a word that the model doesn't know goes right."


def _ranklib(source: Source, size: int) -> Iterator[str]:
    yield "A missing feature is 0."
    yield "Features are numbered from 1, in the order of the columns, or of the feature set of a plugin."


_OWN = {
    "elasticsearch": _elasticsearch,
    "ltr-plugin": _ltr_plugin,
    "solr": _solr,
    "vespa": _vespa,
    "ranklib": _ranklib,
}
