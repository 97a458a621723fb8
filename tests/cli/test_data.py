"""``rankwood data`` on the command line."""

import json

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.cli_calls import answer, caller, check_help, complaint


@pytest.fixture
def call(capsys, tmp_path):
    return caller(capsys, tmp_path, "data")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "demo"
    made.mkdir()
    for part in ("train", "valid", "test"):
        rw.save_letor(rw.load_demo(part), made / f"{part}.txt")
    return made


def test_list(call):
    code, out, _ = call("list")
    assert code == 0
    assert "istella-x" in out and "26,791,447" in out
    code, out, _ = call("list yahoo1")
    assert "set1.train.txt" in out and "misprint" in out
    rows = answer(call("list --json"))["data_sets"]
    assert rows[1]["counts"]["valid"]["documents"] == 747_218
    assert "did you mean" in complaint(call("list yaho"))


def test_describe(call, folder, tmp_path):
    code, out, err = call("describe @demo")
    assert (code, err) == (0, "")
    assert "Best features, each alone" in out and "Advice" in out
    found = answer(call("describe @demo --json --output @page.html"))
    assert [part["queries"] for part in found["parts"]] == [120, 40, 40]
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    for name, start in {"a.svg": b"<?xml", "a.png": b"\x89PNG", "a.md": b"# train.txt"}.items():
        assert call(f"describe @demo/train.txt --output @{name}")[0] == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    assert "ends in .html, .md" in complaint(call("describe @demo --output @a.doc"))
    assert "nowhere doesn't exist" in complaint(call("describe @nowhere"))
    assert "did you mean 'mslr10k' or 'mslr30k'" in complaint(call("describe @demo --name mslr"))


def test_describe_with_absent_as_missing(call, tmp_path):
    lines = [f"{i % 2} qid:{i // 4} 1:{i} 2:0{' 3:1' if i % 3 else ''}\n" for i in range(40)]
    (tmp_path / "a.txt").write_text("".join(lines))
    first = answer(call("describe @a.txt --json"))
    assert first["gaps"] and first["features"][2]["missing"] == 0
    second = answer(call("describe @a.txt --absent nan --json"))
    assert second["features"][2]["missing"] == pytest.approx(14 / 40)
    (tmp_path / "a.txt").write_text("".join(lines).replace("3:1", "3:-"))
    assert "missing=['-'] (--missing '-')" in complaint(call("describe @a.txt"))
    third = answer(call("describe @a.txt --missing=- --json"))
    assert third["features"][2]["missing"] == pytest.approx(26 / 40)


def test_check_exits_with_1_if_something_differs(call, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 3, (16_140, 45)).astype(np.float32)
    qid = np.sort(np.concatenate([np.arange(106), rng.integers(0, 106, 16_140 - 106)]))
    y = rng.integers(0, 3, 16_140)
    data = rw.RankingData(X, y, qid=qid)
    rw.save_letor(data, tmp_path / "all.txt")
    code, out, _ = call("check ohsumed @all.txt")
    assert code == 0 and "Everything agrees" in out
    rw.save_letor(data.select(np.arange(106) > 0), tmp_path / "all.txt")
    code, out, err = call("check ohsumed @all.txt")
    assert (code, err) == (1, "")
    assert "'queries' in all is 105, but the published one is 106" in out
    code, out, err = call("check ohsumed @all.txt --json")
    assert (code, err) == (1, "")
    assert json.loads(out)["agrees"] is False


def test_convert(call, folder, tmp_path):
    pytest.importorskip("pyarrow")
    made = answer(call("convert @demo/test.txt @test.parquet --json"))
    assert (made["queries"], made["written"]) == (40, [str(tmp_path / "test.parquet")])
    assert "exists already" in complaint(call("convert @demo/test.txt @test.parquet"))
    code, out, _ = call("convert @demo/test.txt @test.parquet --force")
    assert code == 0 and "40 queries" in out
    assert call("convert @test.parquet @again.txt")[0] == 0
    assert np.array_equal(
        rw.load_letor(tmp_path / "again.txt").X, rw.load_demo("test").X, equal_nan=True
    )
    assert "no directory" in complaint(call("convert @demo/test.txt @no/such.txt"))


def test_help_and_mistakes(call):
    for name in ("list", "describe", "check", "convert"):
        check_help(call(f"{name} --help"), f"data {name}")
    assert "invalid choice: 'lst'" in complaint(call("lst"), 2)
    assert "did you mean '--output'" in complaint(call("describe x --outptu y"), 2)
    assert "required" in complaint(call(""), 2)
