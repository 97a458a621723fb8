"""Names of other programs: each has the number of its program, or an answer."""

import ir_measures
import lightgbm as lgb
import numpy as np
import pytest
import pytrec_eval
import xgboost as xgb
from catboost.utils import eval_metric
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

import rankwood as rw
from rankwood._util.foreign_names import PROGRAMS, ROWS
from rankwood.metrics.registry import METRICS
from tests.helpers.cli_calls import answer, caller, complaint
from tests.helpers.refusals import refusal_test
from tests.oracles import naive_metrics


@pytest.fixture(scope="module")
def judged():
    """Judgments and a run as dictionaries: tied scores, unjudged documents, missing queries, nothing relevant."""
    rng = np.random.default_rng(7)
    qrels, run = {}, {}
    for q in range(40):
        docs = [f"d{i:02d}" for i in rng.permutation(40)]
        qrels[f"q{q}"] = {d: int(rng.integers(0, 4) * (rng.random() < 0.5)) for d in docs[:20]}
        scores = np.round(rng.normal(size=25), 1).tolist()
        run[f"q{q}"] = dict(zip(rng.permutation(docs[10:])[:25].tolist(), scores, strict=False))
    qrels["q0"] = dict.fromkeys(qrels["q0"], 0)
    del run["q1"]
    run["q2"] = {}
    run["unjudged"] = {"d00": 1.0}
    return qrels, run


TREC = ["map", "P_5", "P_100", "recall_3", "ndcg_cut_10", "map_cut_10", "recip_rank", "Rprec"]
TREC += ["success_5", "num_rel_ret", "set_recall"]


def test_names_of_trec_eval(judged):
    qrels, run = judged
    spelled = [name.replace("_5", ".5").replace("_10", ".10").replace("_3", ".3") for name in TREC]
    wanted = {*spelled, "P.5,100"} - {"P.5", "P.100"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    for names in (TREC, spelled):
        ev = rw.evaluate(names, qrels, run, convention="trec_eval")
        assert set(ev.per_query["qid"].tolist()) == theirs.keys()
        for row in ev.per_query:
            for name, measure in zip(names, TREC, strict=True):
                assert row[name] == pytest.approx(theirs[row["qid"]][measure], abs=1e-12), name


EXP = "nDCG(dcg='exp-log2')@5"
IR_MEASURES = ["nDCG@10", "nDCG", EXP, "AP", "AP(rel=2)", "AP(rel=2)@10"]
IR_MEASURES += ["AP@100", "RR", "RR(rel=2)", "P@5", "P(rel=2)@5", "Precision@5", "R@10"]
IR_MEASURES += ["Recall@10", "R(rel=2)@10", "Rprec", "Rprec(rel=2)", "Success@3", "RR@10", "ERR@20"]
IR_MEASURES += ["NumRelRet", "SetR"]


def test_names_and_measures_of_ir_measures(judged):
    qrels, run = judged
    run = {q: docs for q, docs in run.items() if docs}
    # These need programs of their own, one of them in Perl; what they are is tested below.
    direct = [name for name in IR_MEASURES if name not in ("RR@10", "ERR@20", EXP)]
    measures = [ir_measures.parse_measure(name) for name in direct]
    theirs = {measure: {} for measure in measures}
    for value in ir_measures.iter_calc(measures, qrels, run):
        theirs[value.measure][value.query_id] = value.value
    ours = rw.evaluate(direct, qrels, run, convention="ir_measures")
    objects = rw.evaluate(measures, qrels, run, convention="ir_measures")
    for name, measure in zip(direct, measures, strict=True):
        assert set(ours.per_query["qid"].tolist()) == theirs[measure].keys()
        for row, other in zip(ours.per_query, objects.per_query, strict=True):
            assert row[name] == pytest.approx(theirs[measure][row["qid"]], abs=1e-12), name
            assert other[str(measure)] == row[name]
    assert rw.metric(EXP) == rw.metric("ndcg@5")
    assert rw.metric("RR@10") == rw.metric("mrr@10")
    assert rw.metric("ERR@20") == rw.metric("err@20(gain='exp', max_label=4)")


def rows_of(qrels):
    return [(q, d, v) for q, docs in qrels.items() for d, v in docs.items()]


def test_judgments_in_every_form_are_the_same(judged):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    qrels, run = judged
    expected = rw.evaluate(["AP", "nDCG@5"], qrels, run).per_query.tolist()
    columns = [list(column) for column in zip(*rows_of(qrels), strict=True)]
    scored = [list(column) for column in zip(*rows_of(run), strict=True)]
    a = dict(zip(("query_id", "doc_id", "relevance"), columns, strict=True))
    b = dict(zip(("query_id", "doc_id", "score"), scored, strict=True))
    pyterrier = dict(zip(("qid", "docno", "label"), columns, strict=True))
    forms = [
        (pd.DataFrame(a), pd.DataFrame(b)),
        (pd.DataFrame(pyterrier), pd.DataFrame(b)),
        (pl.DataFrame(a), pl.DataFrame(b)),
        (pa.table(a), pa.table(b)),
        ([ir_measures.Qrel(*row) for row in zip(*columns, strict=True)],
         (ir_measures.ScoredDoc(*row) for row in zip(*scored, strict=True))),
        (zip(*columns, strict=True), list(zip(*scored, strict=True))),
        (rw.Qrels(columns[0], columns[1], np.array(columns[2])), run),
        (qrels, rw.Run(scored[0], scored[1], np.array(scored[2]))),
    ]  # fmt: skip
    for y, scores in forms:
        assert rw.evaluate(["AP", "nDCG@5"], y, scores).per_query.tolist() == expected
    found = rw.compare({"a": run, "b": pd.DataFrame(b)}, qrels=pd.DataFrame(a), metrics="AP")
    assert found.means["mean"].tolist() == [np.mean([row[1] for row in expected])] * 2


test_forms_that_are_no_judgments = refusal_test(
    lambda given: rw.evaluate("map", *given),
    [
        (({"q": 1}, {"q": {"d": 1.0}}), r"must be \{query: \{document: label\}\}, got int for query 'q'"),
        (({"q": {"d": "x"}}, {"q": {"d": 1.0}}), "label of document 'd' of query 'q' must be a finite"),
        (({"q": {"d": 1}}, {"q": {"d": np.nan}}), "score of document 'd' of query 'q' must be a finite"),
        (({"q": {"d": 1}}, [1.0]), "judgments go with a run, got list"),
        (([("q", "d", 1), ("q", "d", 2)], {"q": {"d": 1.0}}), "document 'd' of query 'q' is at row 0 and"),
        (([("q", "d", 1), ("q", 2)], {"q": {"d": 1.0}}), "rows must all be tuples"),
    ],
)  # fmt: skip


def test_ties_go_by_document_id_as_in_trec_eval(judged):
    qrels, _ = judged
    rng = np.random.default_rng(3)
    rows = rows_of(qrels)
    rng.shuffle(rows)
    scores = np.round(rng.normal(size=len(rows)), 0)
    data = rw.RankingData(
        np.zeros((len(rows), 1)), [int(v) for _, _, v in rows], qid=[q for q, _, _ in rows],
        comments=[f"docid = {d} and more" for _, d, _ in rows],
    )  # fmt: skip
    run = {q: {} for q in qrels}
    for (q, d, _), score in zip(rows, scores.tolist(), strict=True):
        run[q][d] = score
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.3"}).evaluate(run)
    ev = rw.evaluate(["map", "ndcg_cut_3"], data, scores, convention="trec_eval")
    for row in ev.per_query:
        for name in ev.metrics:
            assert row[name] == pytest.approx(theirs[row["qid"]][name], abs=1e-12)
    stated = rw.evaluate("map", data, scores, convention="trec_eval", ties="input")
    assert stated.mean()["map"] != ev.mean()["map"]  # by row, as the caller wants
    plain = rw.RankingData(data.X, data.y, qid=data.qid)
    without = rw.evaluate("map", plain, scores, convention="trec_eval")
    assert without.per_query.tolist() == stated.per_query.tolist()


def lists(rng, grades):
    sizes = rng.integers(3, 20, 60)
    y = rng.integers(0, grades, sizes.sum()) * (rng.random(sizes.sum()) < 0.4)
    y[: sizes[0]] = 0
    return y.astype(float), np.round(rng.normal(size=y.size), 1), sizes


def test_names_of_xgboost(rng):
    y, s, sizes = lists(rng, 2)
    data = xgb.DMatrix(np.zeros((y.size, 1)), label=y, base_margin=s)
    data.set_group(sizes)
    names = ["pre@5", "map@5", "ndcg@5", "ndcg@5-", "map@5-", "ndcg-", "map-", "pre"]
    params = {"objective": "rank:ndcg", "eval_metric": names, "disable_default_eval_metric": 1}
    text = xgb.Booster(params, [data]).eval(data)
    words = [word.removeprefix("eval-").split(":") for word in text.split()[1:]]
    theirs = {name: float(value) for name, value in words}
    ours = rw.evaluate(names, y, s, group=sizes, convention="xgboost").mean()
    assert ours == pytest.approx({name: theirs[name] for name in names}, abs=1e-6)
    assert ours["ndcg@5"] > ours["ndcg@5-"]


def test_names_of_lightgbm(rng):
    y, s, sizes = lists(rng, 4)
    data = lgb.Dataset(rng.normal(size=(y.size, 2)), y, group=sizes, init_score=s)
    params = {"objective": "lambdarank", "eval_at": [5], "verbose": -1, "learning_rate": 1e-300}
    metrics = ["mean_average_precision", "lambdarank"]
    booster = lgb.Booster({**params, "metric": metrics}, data)
    booster.update()
    theirs = {name: value for _, name, value, _ in booster.eval_train()}
    names = ["mean_average_precision@5", "lambdarank@5"]
    ours = rw.evaluate(names, y, s, group=sizes, convention="lightgbm").mean()
    assert ours[names[0]] == pytest.approx(theirs["map@5"], abs=1e-12)
    assert ours[names[1]] == pytest.approx(theirs["ndcg@5"], abs=1e-12)


CATBOOST = ["NDCG:top=3", "NDCG:top=10;type=Exp", "NDCG:type=Base;denominator=LogPosition"]
CATBOOST += ["DCG:top=3;type=Exp", "MAP:top=3", "MRR:top=3;border=1", "PrecisionAt:top=5"]
CATBOOST += ["RecallAt:top=5;border=0.2", "NDCG:top=3;hints=skip_train~false"]
PROBABILITIES = ["ERR:top=3", "PFound", "PFound:top=3;decay=0.7"]


def test_names_of_catboost(rng):
    y, s, sizes = lists(rng, 4)
    qid = np.repeat(np.arange(sizes.size), sizes)
    for labels, names in ((y, CATBOOST), (y / 4, PROBABILITIES)):
        ours = rw.evaluate(names, labels, s, qid=qid, convention="catboost").mean()
        for name in names:
            (theirs,) = eval_metric(labels, s, name, group_id=qid)
            assert ours[name] == pytest.approx(theirs, abs=1e-9), name


def test_names_of_sklearn(rng):
    y, s = rng.integers(0, 3, 30), rng.normal(size=30)
    names = ["ndcg_score@5", "dcg_score", "average_precision_score(rel=1)"]
    ours = rw.evaluate(names, y, s, convention="sklearn").mean()
    assert ours[names[0]] == pytest.approx(ndcg_score([y], [s], k=5), abs=1e-12)
    assert ours[names[1]] == pytest.approx(dcg_score([y], [s]), abs=1e-12)
    assert ours[names[2]] == pytest.approx(average_precision_score(y >= 1, s), abs=1e-12)


RANX = {
    "hits@5": lambda y: naive_metrics.hits(y, 5),
    "hit_rate@5": lambda y: naive_metrics.success(y, 5),
    "precision@30": lambda y: naive_metrics.p(y, 30, divide_by="k"),
    "recall@5-l2": lambda y: naive_metrics.recall(y, 5, rel=2),
    "map@5-l2": lambda y: naive_metrics.average_precision(y, 5, 2, "relevant"),
    "map@5": lambda y: naive_metrics.average_precision(y, 5, 1, "relevant"),
    "mrr@5-l2": lambda y: naive_metrics.mrr(y, 5, 2),
    "r-precision": naive_metrics.rprec,
    "rbp.95": lambda y: naive_metrics.rbp(y, p=0.95, gain="linear"),
    "ndcg@5": lambda y: naive_metrics.ndcg(y, 5, "linear"),
    "ndcg_burges@5": lambda y: naive_metrics.ndcg(y, 5),
    "dcg@5": lambda y: naive_metrics.dcg(y, 5, "linear"),
    "dcg_burges@5": lambda y: naive_metrics.dcg(y, 5),
}


def test_names_of_ranx_are_its_formulas(rng):
    for size in (3, 12):
        y, s = rng.integers(0, 4, size), rng.normal(size=size)
        ordered = y[np.argsort(-s)].tolist()
        ours = rw.evaluate(list(RANX), y, s, convention="ranx").mean()
        for name, value in RANX.items():
            assert ours[name] == pytest.approx(value(ordered), abs=1e-12), name


@pytest.mark.filterwarnings("ignore")  # of Numba, about ranx
def test_names_have_the_numbers_of_ranx(judged):
    ranx = pytest.importorskip("ranx", reason="the formulas are tested above")
    qrels, run = judged
    rng = np.random.default_rng(1)
    run = {q: {d: float(rng.normal()) for d in run.get(q, ())} for q in qrels if run.get(q)}
    qrels = {q: {d: v for d, v in qrels[q].items() if v} for q in run if any(qrels[q].values())}
    run = {q: run[q] for q in qrels}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(RANX))
    ours = rw.evaluate(list(RANX), ranx.Qrels(qrels), ranx.Run(run), convention="ranx").mean()
    assert ours == pytest.approx({name: float(v) for name, v in theirs.items()}, abs=1e-12)


def test_every_row_is_read_or_answered():
    for row in ROWS["metric"]:
        assert row.program in PROGRAMS
        text = row.name + "(rel=1)" * (row.name == "NumRet" and bool(row.ours))
        if row.cutoff:
            text += "_10" if row.program == "trec_eval" else "@10"
        known = row.program if row.program in ("ranklib", "catboost") else None
        if row.ours:
            assert row.ours in METRICS, row
            rw.evaluate(text, [1, 0], [1.0, 0.0], convention=known)
        else:
            with pytest.raises(rw.InputError, match=r"there is no metric .* nearest is "):
                rw.metric(text)
            nearest = row.note.split("nearest is ")[1].rstrip(".").split(" beside ")[0]
            rw.metric(nearest.replace("@k", "@10"))


test_what_names_answer = refusal_test(
    rw.metric,
    [
        ("Judged@10", "there is no metric 'Judged' of ir_measures here: .* nearest is p@k"),
        ("bpref", "of trec_eval here: it tells documents that were judged irrelevant from"),
        ("iprec_at_recall_0.10", "there is no metric 'iprec_at_recall'.* nearest is map"),
        ("IPrec@0.1", "there is no metric 'IPrec'"),
        ("f1@10", "it is the harmonic mean of precision and recall"),
        ("P", "'P' needs a cutoff: give one, as in P@10"),
        ("ndcg_cut", "'ndcg_cut' needs a cutoff: give one, as in ndcg_cut_10"),
        ("P.5,10", r"has several cutoffs: give a list, as in \['P.5', 'P.10'\]"),
        ("nDCG(judged_only=True)@5", "'ndcg' has no parameter 'judged_only'"),
        (
            "NDCG:top=5;denominator=Position",
            "denominator must be one of LogPosition here, got 'Posi",
        ),
        ("MRR:border=x", "border must be a number, got 'x'"),
        ("Ndcg@10", "unknown metric 'Ndcg'; did you mean 'ndcg'"),
        ("P@5(k=3)", "gives k twice"),
    ],
)


def test_a_program_reads_its_own_names():
    y, s = [1, 0], [1.0, 0.0]
    assert rw.evaluate("P@10", y, s).mean() == {"P@10": 0.1}  # ir_measures: divided by 10
    assert rw.evaluate("P@10", y, s, convention="ranklib").mean() == {"P@10": 0.5}


def test_training_stops_by_names_of_others():
    y, qid = np.tile([0.0, 1, 2], 10), np.repeat(np.arange(10), 3)
    X = np.column_stack([y + np.arange(30) % 7, np.arange(30) % 5])
    names = ["nDCG@3", "success_1"]
    ranker = rw.Ranker(
        "LambdaMART@10", n_estimators=2, eval_metric=names, n_jobs=1, min_child_samples=1
    )
    ranker.fit(X, y, qid=qid, valid=(X, y, qid))
    assert list(ranker.history_) == names
    ours = rw.evaluate(names, y, ranker.predict(X), qid=qid).mean()
    last = {name: curve[ranker.best_iteration_ - 1] for name, curve in ranker.history_.items()}
    assert last == pytest.approx(ours)


def test_names_on_the_command_line(capsys, tmp_path):
    call = caller(capsys, tmp_path)
    about = answer(call("metrics ndcg_cut_10 --json"))
    assert (about["name"], about["composition"]) == ("ndcg", "NDCG(k=10, gain=Linear())")
    about = answer(call("objectives YetiRank:mode=NDCG --json"))
    assert about["name"] == "yetiloss-ndcg"
    (tmp_path / "qrels").write_text("q 0 A 2\nq 0 B 0\nq 0 C 1\n")
    (tmp_path / "run").write_text("q Q0 B 1 9.5 t\nq Q0 A 2 7.1 t\n")
    line = "evaluate @qrels @run --metric nDCG@10 --metric ndcg@10 --metric P_5 --json"
    found = answer(call(line))
    assert found["metrics"]["P_5"] == 0.2
    assert found["metrics"]["nDCG@10"] != found["metrics"]["ndcg@10"]
    assert found["conventions"]["gain"] == "exp"  # of ndcg@10, which doesn't state one
    assert "nearest is map" in complaint(call("evaluate @qrels @run --metric bpref"))
