"""Atomic writes: a failed write leaves the old file intact."""

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from typing import BinaryIO

from rankwood._util import checks

_ABANDONED = 3600.0  # seconds without a write after which an unfinished file counts as abandoned


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None
) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` once it is complete and on the disk.

    The new file has the permissions of the old one. A copy of another file, `like`, has the permissions of that one;
    where `path` is a symbolic link, a copy takes the place of the link, and any other file that of its target.
    """
    target = os.path.realpath(path) if like is None else os.path.abspath(path)
    check_replaceable(target, os.fspath(path))
    _remove_abandoned(target)
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    mode = _mode(target, like)
    try:
        # Others must not read the file before it has its final permissions.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o666 if mode is None else 0o600), "wb") as file:
            if mode is not None:
                with contextlib.suppress(OSError):  # not every file system has permissions
                    os.chmod(temporary, mode)
            yield file
            file.flush()
            _sync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            # The error of a full disk names no file, and the temporary name says nothing to the caller.
            error.filename = os.fspath(path)
        raise


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return a text, and write it to a file if there is a path."""
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))  # a name may be no UTF-8
    return text


def _sync(descriptor: int) -> None:
    """Wait until a file is on the disk: otherwise, after a power failure, its new name may have no content."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise  # these three mean that the file system has no fsync


def check_replaceable(target: str, path: str) -> None:
    """Raise if a target exists and isn't a file that may be written to; `path` is its name in the message."""
    if not os.path.exists(target):
        return
    if not os.path.isfile(target):
        raise checks.InputError(
            f"{path} can't be written: it is a directory or a device, expected a file name."
        )
    if not os.stat(target).st_mode & 0o222:
        raise checks.InputError(
            f"{path} can't be written: it is read-only; give another name, or make it writable first."
        )


def _mode(target: str, like: str | os.PathLike[str] | None) -> int | None:
    """Return the permissions of the new file; None for the default permissions."""
    try:
        mode = stat.S_IMODE(os.stat(target if like is None else like).st_mode)
    except OSError:
        return None
    # A copy stays writable for its owner, so that it can be replaced. It is never executed.
    return mode if like is None else mode & 0o666 | 0o600


def _remove_abandoned(target: str) -> None:
    """Remove unfinished files of the same name that a killed process of this user has left."""
    folder, name = os.path.split(target)
    ours = re.compile(re.escape(name) + r"\.[0-9a-f]{12}\.tmp")
    oldest = time.time() - _ABANDONED
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and _is_abandoned(entry, oldest):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_abandoned(entry: os.DirEntry[str], oldest: float) -> bool:
    """Return whether a file is this user's, and was last written before `oldest`."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return mine and stat.S_ISREG(status.st_mode) and status.st_mtime < oldest
