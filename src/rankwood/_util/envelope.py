"""The envelope of model files: one JSON object with a format, a version, the kind of model and a checksum.

What is inside is read by those who know the kind: estimators, forests, model cards.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood._util.atomic import replacing
from rankwood._util.old_names import updated
from rankwood._version import __version__

_FORMAT, _VERSION = "rankwood-model", 1
_LARGEST = 1 << 32  # bytes of a file
_DEEPEST = 64  # objects and lists inside each other


def write_content(content: dict[str, Any], path: str | Path, kind: str = "Ranker") -> None:
    """Write an object with a header and a checksum; `kind` is the class that reads it."""
    header: dict[str, Any] = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        "kind": kind,
    }
    whole = {**header, **content}
    whole["sha256"] = checksum(whole)
    try:
        with replacing(path) as file:
            file.write(json.dumps(whole, indent=1).encode())
    except OSError as error:
        raise checks.InputError(f"{path} can't be written: {error.strerror}.") from None


def read_content(path: str | Path, kind: str) -> dict[str, Any]:
    """Return the object of a file that `write_content` wrote for this class."""
    content = _parse(path)
    if content.get("sha256") != checksum(content):
        raise checks.InputError(f"{path} is damaged: its content doesn't match its checksum.")
    got = content.get("kind", "Ranker")  # older files are all of rankers
    if not isinstance(got, str) or not got.replace(" ", "").isalpha():
        raise damaged(path, "'kind' must be a word")
    if got != kind:
        how = f"give it as checkpoint={str(path)!r}" if " " in got else f"read it with {got}.load"
        raise checks.InputError(f"{path} holds a {got}, not a {kind}: {how}.")
    return dict(updated(content))


def checksum(content: dict[str, Any]) -> str:
    """Return a digest of everything in a file but the digest itself."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _parse(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a model file; raise, with what the file seems to be, if it is something else."""
    text = read_text(path)
    if text.startswith("tree\n"):
        raise checks.InputError(
            f"{path} is a model of LightGBM itself, not one that Ranker.save wrote; "
            "read it with lightgbm.Booster(model_file=...)."
        )
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise checks.InputError(
            f"{path} is not a Rankwood model, or a damaged one: not JSON at line {error.lineno}."
        ) from None
    except RecursionError:
        raise checks.InputError(f"{path} is not a Rankwood model: JSON too deep.") from None
    except ValueError:  # Python limits the digits of a number
        raise damaged(path, "a number in it has too many digits") from None
    check_depth(content, path)
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise checks.InputError(f"{path} is JSON, but not a model that Ranker.save wrote.")
    if content.get("format_version") != _VERSION:
        raise checks.InputError(
            f"{path} has format version {content.get('format_version')}, this Rankwood reads "
            f"{_VERSION}; it was written by Rankwood {content.get('rankwood')}."
        )
    return content


def damaged(path: str | Path, why: str) -> checks.InputError:
    """Return the error for a file whose content can't be right."""
    return checks.InputError(f"{path} is damaged: {why}.")


def read_text(path: str | Path) -> str:
    """Return the text of a file; raise if it is a device, too large, or not text."""
    try:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                raise checks.InputError(f"{path} is a device, expected a model file.")
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise checks.InputError(f"{path} is larger than any model: above {_LARGEST >> 30} GiB.")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise checks.InputError(f"{path} is not a Rankwood model: it is a binary file.") from None
    except OSError as error:
        raise checks.InputError(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        if isinstance(error, checks.InputError):
            raise
        raise checks.InputError(f"{str(path)!r} can't be the name of a file.") from None


def require(content: Any, types: Mapping[str, Any], path: str | Path) -> None:
    """Raise unless an object of a file has these fields, with values of these types."""
    if not isinstance(content, dict):
        raise checks.InputError(
            f"{path} is damaged: a value in it is of the wrong kind, {type(content).__name__}."
        )
    for name, kind in types.items():
        if name not in content:
            raise checks.InputError(f"{path} is damaged: {name!r} is missing.")
        if not isinstance(content[name], kind):
            raise checks.InputError(
                f"{path} is damaged: {name!r} is of the wrong kind, {type(content[name]).__name__}."
            )


def check_depth(content: Any, path: str | Path) -> None:
    """Raise if objects and lists are nested too deep."""
    level = [content] if isinstance(content, (dict, list)) else []
    for _ in range(_DEEPEST):
        inside = [list(item.values()) if isinstance(item, dict) else item for item in level]
        level = [item for items in inside for item in items if isinstance(item, (dict, list))]
        if not level:
            return
    raise damaged(path, f"values are nested more than {_DEEPEST} deep")
