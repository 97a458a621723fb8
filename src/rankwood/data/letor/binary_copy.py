"""A binary copy of the content of a text file, stored beside it and used only while the text is unchanged.

The copy is an ordinary `.npz` file. Its checksums reveal damage; its header has the size and the times of the
text and the options it was read with. If anything is wrong with a copy, the text is read instead, and an error
in writing a copy is ignored. A copy may be read by those who may read the text, and never is a link.
"""

import contextlib
import json
import os
import zipfile
import zlib

import numpy as np

from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError
from rankwood.data.comments import Comments
from rankwood.data.letor.blocks import stamp
from rankwood.data.letor.join import Letor
from rankwood.data.letor.options import LetorOptions

_VERSION = 2
_MEMBERS = ("X", "y", "qid", "blob", "offsets")  # the last two are empty if there are no comments
_ENDING = ".rankwood.npz"


def copy_path(path: str) -> str:
    """Return the name of the binary copy of `path`."""
    return path + _ENDING


def copy_header(path: str, options: LetorOptions) -> str:
    """Return the header of a copy: the version of the text, and the options."""
    fields = {
        "format": f"rankwood letor {_VERSION}",
        **stamp(os.stat(path))._asdict(),
        "n_features": options.n_features,
        "absent": repr(float(options.fill_value)),
        "marker": bool(options.missing_marker),
        "missing": options.missing_words,
    }
    return json.dumps(fields, sort_keys=True)


def load_copy(path: str, expected: str, options: LetorOptions) -> Letor | None:
    """Return the content of the copy of `path`; None if there is none, it is damaged, or its header differs."""
    if not os.path.isfile(copy_path(path)):  # opening a pipe would block
        return None
    try:
        with open(copy_path(path), "rb") as file, np.load(file, allow_pickle=False) as members:
            if members["header"].tobytes().decode() != expected:
                return None
            # Reading a member to its end checks its checksum.
            arrays = {name: members[name] for name in _MEMBERS}
        comments = Comments(arrays["blob"], arrays["offsets"]) if arrays["offsets"].size else None
        letor = Letor(arrays["X"], arrays["y"], arrays["qid"], comments)
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError):
        return None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, MemoryError):
        return None
    return letor if _is_consistent(letor, options) else None


def _is_consistent(letor: Letor, options: LetorOptions) -> bool:
    """Whether the arrays fit together and to the options; anyone may have written the file."""
    X, y, qid, comments = letor
    rows = y.size
    shaped = (
        X.dtype == np.float32
        and y.dtype == np.float64
        and (qid.dtype == np.int64 or qid.dtype.kind == "U")
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.shape[0] == rows > 0
        and y.shape == qid.shape == (rows,)
        and X.shape[1] == (X.shape[1] if options.n_features is None else options.n_features)
    )
    return shaped and _holds_values(X, y, qid) and (comments is None or comments.cover(rows))


def _holds_values(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> bool:
    """Whether values, labels and query ids can come from text: no infinity, no empty id."""
    limits = (np.fmax.reduce(X, axis=None, initial=0), np.fmin.reduce(X, axis=None, initial=0))
    ids = qid.dtype.kind != "U" or bool((qid != "").all())
    return bool(np.isfinite(limits).all() and np.isfinite(y).all() and y.min() >= 0 and ids)


def save_copy(path: str, letor: Letor, header: str) -> None:
    """Write a copy of the content of `path`, if its directory is writable."""
    X, y, qid, comments = letor
    arrays = {"header": np.frombuffer(header.encode(), np.uint8), "X": X, "y": y, "qid": qid}
    none = Comments(np.empty(0, np.uint8), np.empty(0, np.int64))
    blob, offsets = (comments or none).blob, (comments or none).offsets
    with contextlib.suppress(OSError, InputError), replacing(copy_path(path), like=path) as file:
        np.savez(file, allow_pickle=False, **arrays, blob=blob, offsets=offsets)
