"""Compiled code on disk that is damaged, or that can't be written: a kernel is then compiled, as if there were none.

Numba keeps an index and a data file for each signature of a kernel, both pickled. It trusts them, and ends with
whatever exception a damaged one raises. Here a data file has a checksum and the key that it belongs to, and no error
of the cache reaches the caller.
"""

import hashlib
import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

from numba.core.caching import IndexDataCacheFile

from rankwood._kernels.compile.digest import is_ours

_DIGEST_SIZE = 32
_LINE = re.compile(r"-\d+\.")


class CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files of one kernel. Damaged ones count as none."""

    def _load_index(self) -> Any:
        # Anything can come out of a damaged pickle, also errors of classes that are gone.
        try:
            found = super()._load_index()
        except Exception:
            return {}
        return found if isinstance(found, dict) else {}

    def save(self, key: Any, data: Any) -> None:
        """Save compiled code with its key: two processes that compile at once may choose the same name of a file."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """Return compiled code, or None if there is none or it is damaged."""
        try:
            found, data = super().load(key)
            return data if found == key else None
        except Exception:
            return None

    def _save_data(self, name: str, data: Any) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(dumped).digest() + dumped)

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            digest, data = file.read(_DIGEST_SIZE), file.read()
        # Machine code that was cut or changed would still be linked, and crash when it is called.
        if hashlib.sha256(data).digest() != digest:
            return None
        return pickle.loads(data)


def protect(dispatcher: Any, digest: bytes) -> None:
    """Make a kernel's cache check what it reads, survive what fails, and count for sources of this digest only."""
    cache: Any = getattr(dispatcher, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if file is None:  # Numba is switched off (NUMBA_DISABLE_JIT)
        return
    # A kernel calls functions of other files, so what is on disk is good for these sources only: after an upgrade
    # the old compiled code may still be there.
    base = file._index_name.removesuffix(".nbi")
    stamp: tuple[Any, ...] = (file._source_stamp, digest)
    if is_ours(inspect.getfile(dispatcher.py_func)):
        # The digest covers the whole file, so neither its date nor the line of the kernel (in the name) counts.
        base, stamp = _LINE.sub(".", base), (digest,)
    cache._cache_file = CheckedFiles(file._cache_path, base, stamp)
    cache.load_overload = _never_failing(cache.load_overload)
    cache.save_overload = _never_failing(cache.save_overload)


def _never_failing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a cache that returns None where it failed: a full disk, a directory in place of a file."""

    def attempt(*args: Any) -> Any:
        try:
            return method(*args)
        except Exception:
            return None

    return attempt
