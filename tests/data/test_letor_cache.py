"""The binary copy beside a LETOR file: used when it is right, never when it isn't."""

import io
import os
import zipfile

import numpy as np
import pytest

from rankwood._kernels.compile import jit as compile
from rankwood._util.checks import InputError
from rankwood.data import letor
from rankwood.data.letor import binary_copy as _cache
from rankwood.data.letor import read_letor

ROWS = 3000 if compile.JIT else 30


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{i % 3} qid:q{i // 9} 1:0.5 2:{i} # d{i}\n" for i in range(ROWS)))
    return path


@pytest.fixture
def reads(monkeypatch):
    """Count how often the text itself is read."""
    calls = []
    real = letor.read_file

    def counting(*args):
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(letor, "read_file", counting)
    return calls


def copy_of(source):
    return source.with_name("a.txt.rankwood.npz")


def same(a, b) -> bool:
    return (
        np.array_equal(a.X, b.X, equal_nan=True)
        and a.X.dtype == b.X.dtype
        and np.array_equal(a.y, b.y)
        and np.array_equal(a.qid, b.qid)
        and a.qid.dtype.kind == b.qid.dtype.kind
        and a.comments == b.comments
    )


def test_the_second_load_comes_from_the_copy(source, reads):
    first = read_letor(source, cache=True)
    assert copy_of(source).exists() and os.listdir(source.parent).__len__() == 2
    second = read_letor(source, cache=True)
    assert len(reads) == 1 and same(first, second)
    assert same(second, read_letor(source))
    assert second.X.flags.writeable and second.X.flags.c_contiguous


def test_no_copy_unless_asked(source):
    read_letor(source)
    assert not copy_of(source).exists()


def test_files_without_comments_and_with_integer_ids(tmp_path, reads):
    path = tmp_path / "a.txt"
    path.write_text("0 qid:1 2:1\n")
    first, second = (read_letor(path, cache=True, absent=float("nan")) for _ in range(2))
    assert len(reads) == 1 and same(first, second)
    assert second.comments is None and second.qid.dtype == np.int64


def test_other_options_are_not_taken_from_the_copy(source, reads):
    changes = ({"n_features": 5}, {"absent": float("nan")}, {"marker": True}, {"missing": "?"})
    for options in ({}, *changes, {}):
        before = len(reads)
        assert same(read_letor(source, cache=True, **options), read_letor(source, **options))
        assert len(reads) == before + 2
    read_letor(source, cache=True)
    assert len(reads) == 12


def test_a_source_that_changed_is_read_again(source, reads):
    read_letor(source, cache=True)
    os.utime(source, ns=(1, 1))
    read_letor(source, cache=True)
    assert len(reads) == 2
    stat = source.stat()
    source.write_text(source.read_text() + "4 qid:z 1:9\n")
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert read_letor(source, cache=True).y[-1] == 4
    assert len(reads) == 3


def truncate(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def cut_the_end(raw: bytes) -> bytes:
    return raw[:-10]


def flip_in_the_matrix(raw: bytes) -> bytes:
    at = raw.index(b"X.npy") + 250  # behind the 128 bytes that describe the array
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def flip_in_the_header(raw: bytes) -> bytes:
    return raw.replace(b'"mtime_ns"', b'"mtime_nz"', 1)


def garbage(raw: bytes) -> bytes:
    return b"nothing like it " * 100


def empty(raw: bytes) -> bytes:
    return b""


def pickled(raw: bytes) -> bytes:
    out = io.BytesIO()
    np.savez(out, header=np.array([{"a": 1}], dtype=object))
    return out.getvalue()


def foreign(raw: bytes) -> bytes:
    out = io.BytesIO()
    np.savez(out, other=np.arange(5))
    return out.getvalue()


def single_array(raw: bytes) -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(5))
    return out.getvalue()


def without_a_member(raw: bytes) -> bytes:
    return _rewritten(raw, lambda name, content: None if name == "y.npy" else content)


def shorter_labels(raw: bytes) -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return _rewritten(raw, lambda name, content: out.getvalue() if name == "y.npy" else content)


def _rewritten(raw: bytes, change) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


DAMAGES = [truncate, cut_the_end, flip_in_the_matrix, flip_in_the_header, garbage, empty, pickled]
DAMAGES += [foreign, single_array, without_a_member, shorter_labels]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_ignored_and_written_anew(source, reads, damage):
    first = read_letor(source, cache=True)
    raw = copy_of(source).read_bytes()
    damaged = damage(raw)
    assert damaged != raw
    copy_of(source).write_bytes(damaged)
    assert same(read_letor(source, cache=True), first)
    assert len(reads) == 2
    assert same(read_letor(source, cache=True), first)
    assert len(reads) == 2


@pytest.mark.parametrize("place", range(24))
def test_a_flipped_byte_never_changes_what_is_read(source, place):
    first = read_letor(source, cache=True)
    raw = bytearray(copy_of(source).read_bytes())
    raw[len(raw) * (2 * place + 1) // 48] ^= 0x10
    copy_of(source).write_bytes(raw)
    assert same(read_letor(source, cache=True), first)


def test_a_copy_in_the_way_that_is_a_directory(source):
    copy_of(source).mkdir()
    assert read_letor(source, cache=True).y.size == ROWS
    assert sorted(os.listdir(source.parent)) == ["a.txt", "a.txt.rankwood.npz"]


def test_without_permission_to_write_there_is_just_no_copy(source, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("rankwood._util.atomic.secrets.token_hex", lambda n: refuse("x"))
    assert read_letor(source, cache=True).y.size == ROWS
    assert os.listdir(source.parent) == ["a.txt"]


def test_a_write_that_fails_half_way_leaves_nothing(source, monkeypatch):
    def torn(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_cache.np, "savez", torn)
    assert read_letor(source, cache=True).y.size == ROWS
    assert os.listdir(source.parent) == ["a.txt"]


def test_faults_of_the_text_are_told_and_not_kept(source):
    source.write_text("0 qid:1 1:x\n")
    with pytest.raises(InputError, match="line 1"):
        read_letor(source, cache=True)
    assert os.listdir(source.parent) == ["a.txt"]


# What others may have placed beside the text


def planted(source, **changed) -> None:
    """Change members of the copy; checksums and the header are right."""
    with np.load(copy_of(source)) as members:
        arrays = {name: members[name] for name in members.files} | changed
    with open(copy_of(source), "wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.full((ROWS, 2), np.inf, np.float32)},
        {"X": np.zeros((ROWS, 3), np.float32)},
        {"y": np.full(ROWS, -1.0)},
        {"y": np.full(ROWS, np.nan)},
        {"qid": np.full(ROWS, "")},
        {"offsets": np.full(ROWS + 1, 2**60)},
        {"offsets": np.arange(ROWS + 1)[::-1].copy()},
        {"offsets": np.arange(ROWS + 1)},
        {"blob": np.zeros((1, 1), np.uint8)},
    ],
    ids=lambda change: f"{next(iter(change))}",
)
def test_a_planted_copy_that_no_text_could_have_is_ignored(source, reads, change):
    expected = read_letor(source, cache=True, n_features=2)
    planted(source, **change)
    got = read_letor(source, cache=True, n_features=2)
    assert len(reads) == 2 and same(got, expected)


def test_a_copy_without_the_comments_is_ignored(source, reads):
    expected = read_letor(source, cache=True)
    raw = _rewritten(
        copy_of(source).read_bytes(),
        lambda name, content: None if name in ("blob.npy", "offsets.npy") else content,
    )
    copy_of(source).write_bytes(raw)
    assert same(read_letor(source, cache=True), expected) and len(reads) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes, which Windows lacks")
def test_a_pipe_in_place_of_the_copy_does_not_hang(source):
    os.mkfifo(copy_of(source))
    assert same(read_letor(source, cache=True), read_letor(source))


def test_a_copy_is_not_written_through_a_link_and_is_as_private_as_the_text(source):
    other = source.with_name("precious")
    other.write_text("precious")
    copy_of(source).symlink_to(other)
    source.chmod(0o600)
    read_letor(source, cache=True)
    assert other.read_text() == "precious" and not copy_of(source).is_symlink()
    assert copy_of(source).stat().st_mode & 0o777 == 0o600


def test_a_text_of_the_same_size_and_time_is_read_again(source, reads):
    read_letor(source, cache=True)
    stat = source.stat()
    source.write_text(source.read_text().replace("0.5", "0.7"))
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert read_letor(source, cache=True).X[0, 0] == np.float32(0.7) and len(reads) == 2
