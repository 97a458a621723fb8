"""What a model was made from: a digest of its training data, and the versions of the programs."""

import platform
from typing import Any

from rankwood._core.versions import version_of
from rankwood._version import __version__
from rankwood.data.ranking_data import RankingData
from rankwood.engines.base import ENGINES
from rankwood.training.fingerprints import fingerprint

_LONGEST = 64  # characters of a digest, a name or a version
#: Packages of the engines, by name.
PACKAGES = {name: one.package for name, one in ENGINES.items()} | {"neural": "torch"}


def origin_of(estimator: Any, train: RankingData) -> dict[str, Any]:
    """Return the digest of the training data, and versions by program."""
    names = ["numpy", PACKAGES.get(getattr(estimator, "engine", ""), "")]
    known = {name: version_of(name) for name in names if name}
    versions = {"rankwood": __version__, "python": platform.python_version()}
    return {
        "fingerprint": fingerprint(train),
        "versions": versions | {name: v for name, v in known.items() if v is not None},
    }


def checked(found: Any) -> dict[str, Any] | None:
    """Return the origin that a file has, or None if there is none or it can't be right."""
    if not isinstance(found, dict) or not _is_short(found.get("fingerprint")):
        return None
    versions = found.get("versions")
    if not isinstance(versions, dict) or len(versions) > _LONGEST:
        return None
    if not all(_is_short(word) for pair in versions.items() for word in pair):
        return None
    return {"fingerprint": found["fingerprint"], "versions": dict(versions)}


def _is_short(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= _LONGEST and text.isprintable()
