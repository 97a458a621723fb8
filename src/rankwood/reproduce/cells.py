"""Cells: training runs that stand for themselves, so that items share them; and the store that keeps them."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._util.atomic import replacing

#: The form of the store. Cells of another form are not found, so they are computed again.
FORMAT = 1


@dataclass(frozen=True)
class RecipeCell:
    """One training run: everything that its numbers depend on, as values that JSON can hold.

    What is only recorded beside the training (curves, values on other parts of the data) doesn't belong to the cell: a
    request names it separately, and a cell whose result lacks some of it is computed again.
    """

    spec: Mapping[str, Any]

    @property
    def training(self) -> str:
        """What is trained, whatever programs do that, as text."""
        return _training(self.spec)

    @cached_property
    def digest(self) -> str:
        """The name of the cell: SHA-256 of its values."""
        return hashlib.sha256(_canonical({"format": FORMAT, **self.spec}).encode()).hexdigest()


#: Entries of a cell about the programs that compute it; cells up to 0.4 have the version only.
_PROGRAMS = ("format", "programs", "version")


def _training(spec: Mapping[str, Any]) -> str:
    return _canonical({name: value for name, value in spec.items() if name not in _PROGRAMS})


def _canonical(value: Any) -> str:
    """Return values as JSON, the same text for the same values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Store:
    """Finished cells in a folder, a file each.

    Parameters
    ----------
    folder : Path
        The folder; it is made when the first cell is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return the file of a cell."""
        return self.folder / digest[:2] / f"{digest}.json"

    def read(self, digest: str) -> dict[str, Any] | None:
        """Return the result of a cell; None if there is none, or if its file is damaged."""
        try:
            content = json.loads(self.path(digest).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return _whole(content, digest)

    def has(self, digest: str, wants: frozenset[str]) -> bool:
        """Tell whether a cell is finished with all that is wanted of it."""
        found = self.read(digest)
        return found is not None and wants <= set(found["has"])

    def other_programs(self, wanted: Iterable[RecipeCell]) -> list[dict[str, str]]:
        """Return the programs of finished cells that train what is wanted, but were computed by other programs."""
        cells = {cell.training: cell for cell in wanted}
        found = []
        for path in sorted(self.folder.glob("*/*.json")):
            spec = _spec_in(path)
            if spec is None or _training(spec) not in cells:
                continue
            programs = spec.get("programs") or {"rankwood": spec.get("version", "unknown")}
            if programs != cells[_training(spec)].spec.get("programs"):
                found.append(programs)
        return found

    def write(self, cell: RecipeCell, about: str, result: Mapping[str, Any]) -> None:
        """Keep the result of a cell; a reader sees the whole file or none."""
        path = self.path(cell.digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "digest": cell.digest,
            "about": about,
            "cell": {"format": FORMAT, **cell.spec},
            "result": result,
            "sum": _sum(result),
        }
        with replacing(path) as file:
            file.write((json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def _spec_in(path: Path) -> dict[str, Any] | None:
    """Return the cell that a file is of; None if the file is damaged."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))["cell"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return spec if isinstance(spec, dict) else None


def _whole(content: Any, digest: str) -> dict[str, Any] | None:
    """Return the result in the content of a file; None if it is damaged."""
    if not isinstance(content, dict) or content.get("digest") != digest:
        return None
    result = content.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("has"), list):
        return None
    # Files of earlier runs have no sum.
    return result if content.get("sum") in (None, _sum(result)) else None


def _sum(result: Mapping[str, Any]) -> str:
    """Return a checksum of a result, the same before it is written and after it is read."""
    return hashlib.sha256(_canonical(json.loads(json.dumps(result))).encode()).hexdigest()


def pack(values: np.ndarray) -> dict[str, Any]:
    """Return an array as a short text with all bits."""
    array = np.ascontiguousarray(values, dtype="<f8")
    data = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
    return {"shape": list(array.shape), "float64": data}


def unpack(packed: Mapping[str, Any]) -> np.ndarray:
    """Return the array that `pack` wrote."""
    data = zlib.decompress(base64.b64decode(packed["float64"]))
    return np.frombuffer(data, dtype="<f8").reshape(packed["shape"])
