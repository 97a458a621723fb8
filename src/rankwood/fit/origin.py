"""What a model was made from: a digest of its training data, and the versions of the programs."""

import platform
from typing import Any

from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.data.source import Source
from rankwood.engines.base import ENGINES
from rankwood.fit.result import Origin

_LONGEST = 64  # characters of a digest, a name or a version


def package_of(learner: str) -> str:
    """Return the package that a learner needs, "" if it needs none."""
    if learner == "neural":
        return "torch"
    return ENGINES[learner].package if learner in ENGINES else ""


def origin_of(learner: str, train: Source) -> Origin:
    """Return the digest of the training data, and versions by program."""
    names = [name for name in ("numpy", package_of(learner)) if name]
    versions = {"rankwood": __version__, "python": platform.python_version()}
    versions |= {name: v for name in names if (v := version_of(name)) is not None}
    return Origin(train.fingerprint(), versions)


def origin_from(value: Any) -> Origin | None:
    """Return the origin that a file has, or None if there is none or it can't be right."""
    if not isinstance(value, dict) or not _is_short(value.get("fingerprint")):
        return None
    versions = value.get("versions")
    if not isinstance(versions, dict) or len(versions) > _LONGEST:
        return None
    if not all(_is_short(word) for pair in versions.items() for word in pair):
        return None
    return Origin(value["fingerprint"], dict(versions))


def _is_short(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= _LONGEST and text.isprintable()
