"""Files appear whole, with the permissions that were there before, and nothing is left behind."""

import os
import stat
import time

import pytest

from rankwood._util.atomic import replacing, written
from rankwood._util.checks import InputError


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder) -> list[str]:
    return sorted(os.listdir(folder))


def test_the_permissions_of_the_old_file_are_kept(tmp_path):
    path = tmp_path / "m.json"
    written("old", path)
    assert mode(path) == 0o666 & ~os.umask(os.umask(0o022))
    path.chmod(0o600)
    written("new", path)
    assert path.read_text() == "new" and mode(path) == 0o600


def test_nobody_may_read_what_the_old_file_hid(tmp_path):
    path = tmp_path / "m.json"
    written("old", path)
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"secret")
        file.flush()
        (unfinished,) = (p for p in tmp_path.iterdir() if p != path)
        assert mode(unfinished) == 0o600
    assert names(tmp_path) == ["m.json"]


def test_a_read_only_file_is_kept(tmp_path):
    path = tmp_path / "m.json"
    written("old", path)
    path.chmod(0o444)
    with pytest.raises(InputError, match="it is read-only; give another name"):
        written("new", path)
    assert path.read_text() == "old" and names(tmp_path) == ["m.json"]


def test_a_copy_has_the_permissions_of_its_source_and_replaces_links(tmp_path):
    source, precious, link = (tmp_path / name for name in ("a.txt", "precious", "a.npz"))
    for path in (source, precious):
        path.write_text("old")
    source.chmod(0o440)
    link.symlink_to(precious)
    with replacing(link, like=source) as file:
        file.write(b"copy")
    assert precious.read_text() == "old"
    assert not link.is_symlink() and link.read_bytes() == b"copy" and mode(link) == 0o640
    link.unlink()
    link.symlink_to(precious)
    written("through the link", link)  # other files go where the user's link points
    assert link.is_symlink() and precious.read_text() == "through the link"


def test_old_unfinished_files_of_this_name_are_removed(tmp_path):
    hour = time.time() - 3601
    old = ["m.json.0123456789ab.tmp"]
    kept = ["m.json.0123456789AB.tmp", "n.json.0123456789ab.tmp", "m.json.tmp", "m.jsonx.tmp"]
    for name in (*old, *kept, "m.json.ba9876543210.tmp"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (hour, hour))
    os.utime(tmp_path / "m.json.ba9876543210.tmp")  # somebody may still be writing to it
    (tmp_path / "m.json.aaaaaaaaaaaa.tmp").mkdir()
    os.utime(tmp_path / "m.json.aaaaaaaaaaaa.tmp", (hour, hour))
    written("new", tmp_path / "m.json")
    rest = {*kept, "m.json.ba9876543210.tmp", "m.json.aaaaaaaaaaaa.tmp", "m.json"}
    assert set(names(tmp_path)) == rest


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), real_sync(fd))[1])
    monkeypatch.setattr(
        os, "replace", lambda a, b: (steps.append(os.path.getsize(a)), real_replace(a, b))[1]
    )
    written("four", tmp_path / "a")
    assert steps == ["sync", 4]

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        written("more", tmp_path / "a")
    assert (tmp_path / "a").read_text() == "four" and names(tmp_path) == ["a"]
