"""A binary copy of what was read from a text file, kept beside it and used only while both agree.

The copy is an ordinary `.npz` file: its checksums tell a torn or damaged one, its header names the
size and the time of the source and the options it was read with. Whatever is wrong with a copy, the
text is read instead; whatever goes wrong with writing one, the data are there all the same.
"""

import contextlib
import json
import os
import zipfile
import zlib

import numpy as np

from rankwood._core.atomic import replacing
from rankwood._core.checks import InputError
from rankwood.data.comments import Comments
from rankwood.data.letor.join import Letor
from rankwood.data.letor.read import Options

_VERSION = 1
_ENDING = ".rankwood.npz"


def beside(path: str) -> str:
    """Return the name of the binary copy of `path`."""
    return path + _ENDING


def header(path: str, options: Options) -> str:
    """Return what must be the same for a copy to stand for the text."""
    stat = os.stat(path)
    fields = {
        "format": f"rankwood letor {_VERSION}",
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "n_features": options.n_features,
        "absent": repr(float(options.fill_value)),
        "marker": bool(options.missing_marker),
    }
    return json.dumps(fields, sort_keys=True)


def load(path: str, expected: str) -> Letor | None:
    """Return the copy of `path` if there is a whole one with that header."""
    try:
        with open(beside(path), "rb") as file, np.load(file, allow_pickle=False) as members:
            if members["header"].tobytes().decode() != expected:
                return None
            # Reading a member to its end checks its checksum.
            found = {name: members[name] for name in members.files}
        comments = Comments(found["blob"], found["offsets"]) if "blob" in found else None
        letor = Letor(found["X"], found["y"], found["qid"], comments)
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError):
        return None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, MemoryError):
        return None
    return letor if _whole(letor) else None


def _whole(letor: Letor) -> bool:
    """Whether the arrays fit together; a foreign file might hold anything."""
    X, y, qid, comments = letor
    rows = y.size
    return (
        X.dtype == np.float32
        and y.dtype == np.float64
        and (qid.dtype == np.int64 or qid.dtype.kind == "U")
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.shape[0] == rows > 0
        and y.shape == qid.shape == (rows,)
        and (comments is None or len(comments) == rows)
    )


def save(path: str, letor: Letor, header: str) -> None:
    """Write a copy of what was read from `path`, if the place allows it."""
    X, y, qid, comments = letor
    arrays = {"header": np.frombuffer(header.encode(), np.uint8), "X": X, "y": y, "qid": qid}
    if comments is not None:
        arrays |= {"blob": comments.blob, "offsets": comments.offsets}
    with contextlib.suppress(OSError, InputError), replacing(beside(path)) as file:
        np.savez(file, allow_pickle=False, **arrays)
