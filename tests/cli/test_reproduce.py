"""``rankwood reproduce``: what it lists, writes and refuses."""

import errno

import pytest

from rankwood.reproduce import result
from rankwood.reproduce.cells import Store
from tests.helpers.cli_calls import answer, caller, cases, check_help, complaint


@pytest.fixture
def call(capsys, tmp_path, data):
    (tmp_path / "small").symlink_to(data)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    return caller(capsys, tmp_path, "reproduce")


def test_help(call):
    check_help(call("--help"), "reproduce")


def test_list(call, paper):
    code, out, _ = call("list")
    assert code == 0
    assert "tiny/table1" in out and "mslr10k, mslr30k" in out
    found = {item["name"]: item for item in answer(call("list --json"))["items"]}
    assert found["tiny/table1"]["pending"] == ["Network"]
    assert not found["tiny/table3"]["needs_data"]


def test_run(call, paper, tmp_path):
    line = "tiny/table1 tiny/table3 --data mslr10k=@small --out @out --trees 2 -q"
    assert call(line) == (0, "", "")
    found = answer(call(f"{line} --json"))["results"]
    assert [(one["item"], one["computed"]) for one in found] == [
        ("tiny/table1", 0),
        ("tiny/table3", 0),
    ]
    assert (tmp_path / "out" / "tiny-table1.md").read_text().startswith("# tiny/table1")
    code, out, _ = call(line.removesuffix(" -q"))
    assert code == 0 and "0 of them computed now" in out


def test_progress_in_a_pipe_is_a_line_per_cell(call, paper):
    code, _, err = call("tiny/figure1 --data mslr10k=@small --out @lines -v")
    assert code == 0
    lines = err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["Cells: 1 of 2", "Cells: 2 of 2"]
    assert all("LambdaMART" in line for line in lines)
    _, _, err = call("tiny/figure2 --data mslr10k=@small --out @lines")
    assert err == ""


def test_rows_of_items_without_rows(call):
    said = complaint(call("lambda-ex/table1 --rows LambdaMART --out @none"))
    assert "no row of the chosen items has a name like 'LambdaMART'; they have no rows." in said


def test_omitted_items_are_named(call, paper):
    line = "tiny/all --data mslr10k=@small --out @some --rows RankNet --trees 1"
    code, out, _ = call(line)
    assert code == 0
    omitted = answer(call(f"{line} --json"))["omitted"]
    assert "tiny/figure1" in omitted and "tiny/table1" not in omitted
    assert f"Omitted, for want of data or of rows that match: {', '.join(omitted)}" in out


REFUSED = """
tiny/table11 --data mslr10k=@small    -> tiny has no item 'table11'; did you mean 'table1'
tinny/table1                          -> there is no item 'tinny/table1'; did you mean 'tiny/table1'
table1                                -> there is no item 'table1'
tiny                                  -> there is no item 'tiny'; did you mean 'tiny/
tiny/table1                           -> needs data: give a folder for at least one of the roles mslr10k, mslr30k
tiny/table1 --data mslr10k=@nowhere   -> there is no folder
tiny/table1 --data mslr10k=@empty     -> holds no data set in a known layout
tiny/table1 --data mslr10k=@file      -> there is no folder
tiny/table1 --data mslr10=@small      -> has a role 'mslr10'; did you mean 'mslr10k'
tiny/table1 --data mslr10k            -> expected ROLE=DIR
tiny/table1 --data mslr10k=a --data mslr10k=b -> two folders for the role 'mslr10k'
tiny/table3 --data mslr10k=@small     -> need no data
tiny/table1 --data mslr10k=@small --out @file -> is a file: give a folder
tiny/table1 --data mslr10k=@small --rows nothing* -> no row of the chosen items has a name like 'nothing*'
tiny/table1 --data mslr10k=@small --rows RankNot -> has a name like 'RankNot'; did you mean 'RankNet'
list tiny/table1                      -> give it alone
"""


@pytest.mark.parametrize(("line", "message"), cases(REFUSED))
def test_refused(call, paper, tmp_path, line, message):
    before = sorted(tmp_path.rglob("*"))
    assert message in complaint(call(line))
    assert sorted(tmp_path.rglob("*")) == before


def test_wrong_numbers(call, paper):
    assert "expected at least 1" in complaint(call("tiny/table1 --trees 0"), 2)


@pytest.mark.parametrize(
    "wrong",
    [
        "tiny/table1 --data mslr10k=@nowhere",
        "tiny/table1 --data mslr10k=@empty",
        "tiny/table7 --data mslr10k=@small",
    ],
    ids=["missing folder", "wrong folder", "unknown item"],
)
def test_finished_cells_stay_when_a_command_is_refused(call, paper, tmp_path, wrong):
    line = "tiny/table1 --data mslr10k=@small --out @out --trees 1"
    assert call(line)[0] == 0
    before = contents(tmp_path / "out")
    assert complaint(call(f"{wrong} --out @out --trees 1"))
    assert contents(tmp_path / "out") == before
    assert answer(call(f"{line} --json"))["results"][0]["computed"] == 0


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def full_disk(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name", "kept"),
    [(Store, "write", 3), (result, "replacing", 6)],
    ids=["in the middle of the cells", "when pages are written"],
)
def test_a_full_disk_is_one_sentence(call, paper, tmp_path, monkeypatch, owner, name, kept):
    line = "tiny/table1 --data mslr10k=@small --out @out --trees 1"
    if owner is Store:  # some cells are there before the disk is full
        assert call(f"{line} --rows Per*")[0] == 0
        for page in (tmp_path / "out").glob("tiny-*"):
            page.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, full_disk)
        said = complaint(call(line))
    assert "there is no space left for" in said and "finished cells stay" in said
    files = contents(tmp_path / "out")
    cells = {path for path in files if path.suffix == ".json"}
    assert files.keys() == cells  # no page, no half-written file
    found = answer(call(f"{line} --json"))["results"][0]
    assert (found["cells"], found["computed"]) == (6, 6 - len(cells))
    assert len(cells) == kept
