"""TREC judgments and runs: files, and evaluation as trec_eval does it."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.data.trec import files as trec
from rankwood.data.trec.files import Qrels, Run, load_qrels, load_run, save_qrels, save_run
from tests.helpers.optional import LazyPackage
from tests.helpers.paths import ROOT

pytrec_eval = LazyPackage("pytrec_eval")

MQ2008 = ROOT.parent / "shared" / "data" / "mq2008" / "S5.txt"
MEASURES = {"ndcg", "ndcg_cut.3,10", "map", "map_cut.3", "recip_rank", "P.5,10", "recall.3,10"}
THEIRS = {
    "ndcg": "ndcg",
    "ndcg@3": "ndcg_cut_3",
    "ndcg@10": "ndcg_cut_10",
    "map": "map",
    "map@3": "map_cut_3",
    "mrr": "recip_rank",
    "p@5": "P_5",
    "p@10": "P_10",
    "recall@3": "recall_3",
    "recall@10": "recall_10",
}


def same_as_trec_eval(qrels, run):
    """Evaluate both ways, query by query."""
    judged, ranked = {}, {}
    for q, doc, label in zip(qrels.qid, qrels.doc, qrels.label.tolist(), strict=True):
        judged.setdefault(q, {})[doc] = int(label)
    for q, doc, score in zip(run.qid, run.doc, run.score.tolist(), strict=True):
        ranked.setdefault(q, {})[doc] = score
    theirs = pytrec_eval.RelevanceEvaluator(judged, MEASURES).evaluate(ranked)
    ev = rw.evaluate(list(THEIRS), qrels, run, convention="trec_eval")
    assert set(ev.per_query["qid"].tolist()) == set(theirs)
    for row in ev.per_query:
        for name, measure in THEIRS.items():
            assert row[name] == pytest.approx(theirs[row["qid"]][measure], abs=1e-12), name
    return ev


def random_pair(rng, queries=60):
    """Judgments of some documents, a run of others, some in both; many ties; some queries in one only."""
    names = [f"doc{i}" for i in range(40)]
    qrels, run = ([], [], []), ([], [], [])
    for q in range(queries):
        for doc in rng.permutation(names)[: rng.integers(1, 25)]:
            for column, value in zip(qrels, (f"q{q}", doc, rng.integers(-1, 4)), strict=True):
                column.append(value)
        for doc in rng.permutation(names)[: rng.integers(1, 25)]:
            score = round(rng.normal(), 1) + 1e-9 * rng.normal()
            for column, value in zip(run, (f"q{q + 5}", doc, score), strict=True):
                column.append(value)
    return Qrels(qrels[0], qrels[1], np.array(qrels[2], float)), Run(*run[:2], np.array(run[2]))


def test_values_are_those_of_trec_eval(rng):
    ev = same_as_trec_eval(*random_pair(rng))
    assert ev.per_query.size == 55


@pytest.mark.skipif(
    not MQ2008.exists(),
    reason="needs the MQ2008 data set beside the checkout; it is not part of the repository",
)
def test_values_are_those_of_trec_eval_on_mq2008(tmp_path, rng):
    data = rw.load_letor(MQ2008)
    save_qrels(data, tmp_path / "qrels")
    save_run(data, np.round(data.X[:, 24] + data.X[:, 36], 1), tmp_path / "run")
    ev = same_as_trec_eval(load_qrels(tmp_path / "qrels"), load_run(tmp_path / "run"))
    assert ev.per_query.size == data.groups.ids.size


def test_queries_that_a_run_lacks_count_as_0_unless_the_convention_says_else():
    qrels = Qrels(["a", "b"], ["x", "x"], np.array([1.0, 1.0]))
    run = Run(["a", "c"], ["x", "x"], np.array([1.0, 1.0]))
    ev = rw.evaluate("mrr", qrels, run)
    assert ev.per_query.tolist() == [("a", 1.0), ("b", 0.0)]
    ev = rw.evaluate("mrr", qrels, run, convention="trec_eval")
    assert ev.per_query.tolist() == [("a", 1.0)]


def test_unretrieved_documents_count_in_what_there_was_to_find():
    qrels = Qrels(["q"] * 3, ["x", "y", "z"], np.array([1.0, 0.0, 1.0]))
    run = Run(["q"] * 2, ["x", "w"], np.array([2.0, 1.0]))
    ev = rw.evaluate(["recall", "map", "p@2", "ndcg", "mrr"], qrels, run).mean()
    best = 1 + 1 / np.log2(3)
    expected = {"recall": 0.5, "map": 0.5, "p@2": 0.5, "ndcg": 1 / best, "mrr": 1.0}
    assert ev == pytest.approx(expected)
    tied = rw.evaluate(["recall", "map"], qrels, run, ties="average").mean()
    assert tied == {"recall": 0.5, "map": 0.5}


@pytest.mark.parametrize("ties", ["worst", "input", "best", "average"])
def test_nothing_is_gained_by_retrieving_less_where_less_is_better(ties):
    """Judged documents that were not ranked come behind the ranked ones, relevant ones last."""
    qrels = Qrels(list("aaaabb"), list("xyzwxy"), np.array([2.0, 0.0, 1.0, 0.0, 0.0, 1.0]))
    run = Run(["a"] * 3, ["y", "x", "new"], np.array([3.0, 2.0, 1.0]))
    ev = rw.evaluate(["arp", "arpk@3", "dcg@9", "recall"], qrels, run, ties=ties)
    # a: y x new w z, b: x y.
    assert ev.per_query["arp"].tolist() == [2 * 2 + 5, 2]
    assert ev.per_query["arpk@3"].tolist() == [2, 0]
    assert ev.per_query["dcg@9"].tolist() == pytest.approx([3 / np.log2(3), 0])
    assert ev.per_query["recall"].tolist() == [0.5, 0]
    full = Run(list("aaaab"), ["y", "x", "new", "z", "y"], np.array([3.0, 2.0, 1.0, 0.0, 0.0]))
    more = rw.evaluate(["arp", "arpk@3"], qrels, full, ties=ties)
    assert more.per_query["arp"].tolist() == [8, 1]
    assert more.per_query["arpk@3"].tolist() == [1, 0]
    skipped = rw.evaluate("arp", qrels, run, ties=ties, convention="trec_eval")
    assert skipped.per_query["arp"].tolist() == [9]


def test_a_mark_of_unicode_is_no_part_of_the_first_id(tmp_path):
    (tmp_path / "q").write_bytes(b"\xef\xbb\xbfq1 0 A 1\n")
    (tmp_path / "r").write_bytes(gzip.compress(b"\xef\xbb\xbfq1 Q0 A 1 0.5 t\n"))
    assert load_qrels(tmp_path / "q").qid == load_run(tmp_path / "r").qid == ["q1"]
    assert (trec.trec_kind(tmp_path / "q"), trec.trec_kind(tmp_path / "r")) == ("qrels", "run")


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    message = "document 'd' of query 'q' is at row 0 and at row 2, expected once"
    with pytest.raises(rw.InputError, match=message):
        save_run((["q", "p", "q"], ["d", "d", "d"]), [1.0, 2.0, 3.0], tmp_path / "f")
    with pytest.raises(rw.InputError, match=message):
        save_qrels(Qrels(["q", "p", "q"], ["d", "d", "d"], np.ones(3)), tmp_path / "f")
    assert list(tmp_path.iterdir()) == []


def test_files_come_back(tmp_path, rng):
    qrels, run = random_pair(rng)
    for end in ("", ".gz"):
        save_qrels(qrels, tmp_path / f"q{end}")
        save_run((run.qid, run.doc), run.score, tmp_path / f"r{end}", tag="mine")
        back = load_qrels(tmp_path / f"q{end}")
        assert (back.qid, back.doc, back.label.tolist()) == (
            qrels.qid,
            qrels.doc,
            qrels.label.tolist(),
        )
        ran = load_run(tmp_path / f"r{end}")
        assert ran.tag == "mine"
        given = dict(zip(zip(run.qid, run.doc, strict=True), run.score, strict=True))
        assert given == dict(zip(zip(ran.qid, ran.doc, strict=True), ran.score, strict=True))
    assert gzip.decompress((tmp_path / "q.gz").read_bytes()) == (tmp_path / "q").read_bytes()
    assert repr(run) == "Run('rankwood', 714 documents, 60 queries)".replace(
        "714", str(len(run.qid))
    )


def test_a_run_of_a_data_set(tmp_path):
    X, y = [[1.0], [2.0], [3.0]], [0, 2, 1]
    data = rw.RankingData(X, y, qid=[7, 7, 8], comments=["docid = A", "docid = B", ""])
    save_run(data, [0.5, 1.5, 0.25], tmp_path / "run")
    save_qrels(data, tmp_path / "qrels")
    assert (tmp_path / "run").read_text().splitlines() == [
        "7 Q0 B 1 1.5 rankwood",
        "7 Q0 A 2 0.5 rankwood",
        "8 Q0 2 1 0.25 rankwood",
    ]
    assert (tmp_path / "qrels").read_text().splitlines() == ["7 0 A 0", "7 0 B 2", "8 0 2 1"]
    ours = rw.evaluate(["ndcg", "map"], data, [0.5, 1.5, 0.25]).mean()
    files = load_qrels(tmp_path / "qrels"), load_run(tmp_path / "run")
    assert rw.evaluate(["ndcg", "map"], *files).mean() == pytest.approx(ours)


def test_files_are_recognised(tmp_path):
    for text, kind in (
        ("q 0 d 1\n", "qrels"),
        ("q Q0 d 1 0.5 t\n", "run"),
        ("1 qid:1 1:0.5 2:1\n", None),
        ("0.5\n", None),
        ("", None),
    ):
        (tmp_path / "f").write_text(text)
        assert trec.trec_kind(tmp_path / "f") == kind
    (tmp_path / "f.gz").write_bytes(gzip.compress(b"q 0 d 1\n"))
    assert trec.trec_kind(tmp_path / "f.gz") == "qrels"
    assert trec.trec_kind(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (load_qrels, "q 0 d 1\nq 0 d\n", "f, line 2: expected 4 words, 'qid 0 doc label', got 3"),
        (load_qrels, "q 0 d x\n", "f, line 1: expected a finite number as label, got 'x'"),
        (
            load_qrels,
            "q 0 d 1\nq 0 d 2\n",
            "f, line 2: document 'd' of query 'q' is judged on line 1",
        ),
        (load_qrels, "\n", "f is empty, expected judgments"),
        (load_run, "q Q0 d 1 0.5\n", "f, line 1: expected 6 words, .* got 5"),
        (load_run, "q Q0 d 1 nan t\n", "f, line 1: expected a finite number as score, got 'nan'"),
        (load_run, "q Q0 d 1 1 t\nq Q0 d 2 0 t\n", "line 2: document 'd' .* is ranked on line 1"),
    ],
)
def test_bad_lines_are_named(tmp_path, load, text, message):
    (tmp_path / "f").write_text(text)
    with pytest.raises(rw.InputError, match=message):
        load(tmp_path / "f")


def test_bad_files_get_one_plain_sentence(tmp_path):
    with pytest.raises(rw.InputError, match="none does not exist, expected a file of judgments"):
        load_qrels(tmp_path / "none")
    with pytest.raises(rw.InputError, match="can't be read: Is a directory"):
        load_run(tmp_path)
    (tmp_path / "f").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(rw.InputError, match="is a binary file, expected judgments as text"):
        load_qrels(tmp_path / "f")
    (tmp_path / "f").write_bytes(gzip.compress(b"q 0 d 1\n" * 100)[:30])
    with pytest.raises(rw.InputError, match="can't be decompressed"):
        load_qrels(tmp_path / "f")
    with pytest.raises(rw.InputError, match="ids are single words, got 'a b'"):
        save_run((["q"], ["a b"]), [1.0], tmp_path / "r")
    with pytest.raises(rw.InputError, match="can't be written"):
        save_run((["q"], ["a"]), [1.0], tmp_path / "none" / "r")


def test_judgments_go_with_a_run():
    qrels = Qrels(["a"], ["x"], np.array([1.0]))
    with pytest.raises(rw.InputError, match="judgments go with a run, got list"):
        rw.evaluate("mrr", qrels, [1.0])
    with pytest.raises(rw.InputError, match="judgments know their queries"):
        rw.evaluate("mrr", qrels, Run(["a"], ["x"], np.ones(1)), qid=["a"])
    for convention in (None, "trec_eval"):
        with pytest.raises(rw.InputError, match="the run has no query that the judgments have"):
            rw.evaluate("mrr", qrels, Run(["b"], ["x"], np.ones(1)), convention=convention)


def test_the_command_sees_that_files_are_trec(tmp_path, capsys):
    qrels, run = str(tmp_path / "qrels"), str(tmp_path / "run")
    Path(qrels).write_text("q1 0 A 2\nq1 0 B 0\nq2 0 A 0\n")
    Path(run).write_text("q1 Q0 B 1 9.5 t\nq1 Q0 A 2 7.1 t\n")
    assert main(["evaluate", qrels, run, "--metric", "map", "--metric", "mrr", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["metrics"] == {"map": 0.25, "mrr": 0.25}
    assert result["data"] == {"file": qrels, "queries": 2, "judgments": 3}
    assert result["queries_without_relevant"] == 1
    words = ["--metric", "map", "--convention", "trec_eval"]
    assert main(["evaluate", qrels, run, *words]) == 0
    assert "0.50000" in capsys.readouterr().out
    Path(run).write_text("q1 Q0 B 1 9.5 t\nq1 Q0 A 2\n")
    assert main(["evaluate", qrels, run, *words]) == 1
    assert f"{run}, line 2: expected 6 words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("run qrels", "run is a TREC run, expected labels first, .*: give qrels before it."),
        ("letor run", "run is a TREC run, expected scores or a model; a run goes with judgments"),
        ("letor qrels", "qrels is a file of TREC judgments, expected scores or a model"),
        ("qrels scores", "scores is not a TREC run, which is expected with TREC judgments."),
        ("qrels -", "- is not a TREC run, which is expected"),
        ("qrels none", "none does not exist, expected a file of a run"),
        ("none run", "none does not exist, expected a LETOR file or TREC judgments"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_files_that_do_not_go_together(tmp_path, capsys, monkeypatch, command, files, message):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "qrels": "q1 0 A 2\n",
        "run": "q1 Q0 B 1 9.5 t\n",
        "letor": "1 qid:1 1:0.5\n",
        "scores": "0.5\n",
        "other": "0.7\n",
    }.items():
        Path(name).write_text(text)
    more = ["other"] if command == "compare" else []
    assert main([command, *files.split(), *more]) == 1
    assert re.search(message, capsys.readouterr().err)
