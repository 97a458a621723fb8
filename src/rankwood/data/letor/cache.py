"""A binary copy of the content of a text file, stored beside it and used only while the text is unchanged.

The copy is an ordinary `.npz` file. Its checksums reveal damage; its header has the size and the time of the
text and the options it was read with. If anything is wrong with a copy, the text is read instead, and an error
in writing a copy is ignored.
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


def copy_path(path: str) -> str:
    """Return the name of the binary copy of `path`."""
    return path + _ENDING


def header(path: str, options: Options) -> str:
    """Return the header of a copy: the version of the text, and the options."""
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
    """Return the content of the copy of `path`, or None without an undamaged one with that header."""
    try:
        with open(copy_path(path), "rb") as file, np.load(file, allow_pickle=False) as members:
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
    return letor if _is_consistent(letor) else None


def _is_consistent(letor: Letor) -> bool:
    """Whether the arrays fit together; the file might be anybody's."""
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
    """Write a copy of the content of `path`, if its directory is writable."""
    X, y, qid, comments = letor
    arrays = {"header": np.frombuffer(header.encode(), np.uint8), "X": X, "y": y, "qid": qid}
    if comments is not None:
        arrays |= {"blob": comments.blob, "offsets": comments.offsets}
    with contextlib.suppress(OSError, InputError), replacing(copy_path(path)) as file:
        np.savez(file, allow_pickle=False, **arrays)
