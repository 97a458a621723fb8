"""Model files of earlier versions have other names of parts and parameters: one table brings them up to date."""

import json
import re

import numpy as np
import pytest

import rankwood as rw
from rankwood._util import old_names
from rankwood._util.old_names import current_text, updated
from rankwood.objectives.families.registry import OBJECTIVES
from tests.helpers.oracle import interpreted
from tests.helpers.refusals import signed

GAPS = [name for name in OBJECTIVES if re.match(r"lambdagap-[sx]", name)]  # lambdagap-f is newer
EXTENDED = [name for name in OBJECTIVES if "-ex" in name]

#: Printed forms of earlier versions, and what they are now.
OLD_TEXTS = {
    "Lambda(weight=One(), noise=Still())": "Lambda(weight=Uniform(), noise=NoNoise())",
    "Lambda(weight=LabelOf(), pairs=Ordered(base=Top(k=4)))": (
        "Lambda(weight=WinnerLabel(), pairs=BothDirections(Top(4)))"
    ),
    "Lambda(weight=Loss1(metric=NDCG(ideal=3)), pairs=Ordered())": (
        "Lambda(weight=NDCGLoss1(NDCG(ideal=3)), pairs=BothDirections(All()))"
    ),
    "Lambda(weight=Loss2())": "Lambda(weight=NDCGLoss2())",
    "Lambda(weight=Loss2(metric=DCG(), delta='shifted'))": (
        "Lambda(weight=NDCGLoss2(DCG(), 'shifted'))"
    ),
    "Lambda(weight=Loss2(mu=2.5))": "Lambda(weight=Scaled(NDCGLoss2(), 2.5))",
    "Lambda(weight=Loss2(rho=1.0))": "Lambda(weight=Sum(Swap(), NDCGLoss2(), 1))",
    "Lambda(weight=Loss2(metric=NDCG(ideal=3), delta='shifted', mu=0.5, rho=1.0))": (
        "Lambda(weight=Sum(Swap(NDCG(ideal=3)), NDCGLoss2(NDCG(ideal=3), 'shifted'), 0.5))"
    ),
    "Lambda(weight=Loss2(mu=2.0, rho=0.3))": (
        "Lambda(weight=Sum(Scaled(Swap(), 0.3), NDCGLoss2(), 2))"
    ),
    "Lambda(weight=Loss2(mu=0.0, rho=1.0))": "Lambda(weight=Sum(Swap(), NDCGLoss2(), 0))",
    "Lambda(weight=Times(base=Cross(k=3), by=0.2))": "Lambda(weight=Scaled(AcrossCutoff(3), 0.2))",
    "Lambda(weight=Times())": "Lambda(weight=Scaled(Uniform(), 1))",
    "Lambda(weight=Cross())": "Lambda(weight=AcrossCutoff(10))",
    "Lambda(weight=Gap())": "Lambda(weight=RanksApart(10))",
    "Lambda(weight=Gap(k=2, exactly=True))": "Lambda(weight=RanksApart(2, True))",
    "Lambda(pairs=Across(k=3))": "Lambda(pairs=AcrossCutoff(3))",
    "Lambda(pairs=Apart(k=2))": "Lambda(pairs=RanksApart(2))",
    "Lambda(pairs=Exactly())": "Lambda(pairs=RanksApart(10, True))",
    "Lambda(pairs=Either())": "Lambda(pairs=AcrossOrApart(10))",
    "Lambda(pairs=Either(first=Across(k=3), second=Apart(k=3)))": "Lambda(pairs=AcrossOrApart(3))",
    "Lambda(pairs=Either(first=Across(k=3), second=Exactly(k=3)), labels=Marked())": (
        "Lambda(pairs=AcrossOrApart(3, True), labels=Binary(1))"
    ),
    "Lambda(pairs=Near(h=2, k=4), labels=Marked(rel=2.0))": (
        "Lambda(pairs=Neighbours(2, 4), labels=Binary(2))"
    ),
    "Lambda(pairs=Near())": "Lambda(pairs=Neighbours(1, None))",
    "Lambda(pairs=Beyond(k=3))": "Lambda(pairs=ReachingBelow(3))",
    "Lambda(weight=Sum())": "Lambda(weight=Sum(Uniform(), RanksApart(10), 1))",
    "Lambda(weight=Swap(metric=AP(per=Relevant())), labels=Binary())": (
        "Lambda(weight=Swap(AP(divide_by=Relevant())), labels=Binary())"
    ),
    "Lambda(weight=Swap(metric=Precision(k=3, per=Cutoff())))": (
        "Lambda(weight=Swap(Precision(3, divide_by=Cutoff())))"
    ),
    "Lambda(weight=Swap(metric=ARP(per=Undivided())))": (
        "Lambda(weight=Swap(ARP(divide_by=NoDivisor())))"
    ),
    "Bi(base=Lambda(weight=One()))": "Bivariate(Lambda(weight=Uniform()))",
}

#: Names of objectives with parameters of earlier versions.
OLD_OBJECTIVES = {
    **{
        f"{name}@5({given})": f"{name}@5(definition='{word}')"
        for name in GAPS
        for given, word in (("scale='code'", "program"), ("scale=paper", "paper"))
    },
    **{
        f"{name}@5(norm=False, {given})": f"{name}@5(norm=False, definition='{word}')"
        for name in EXTENDED
        for given, word in (("missed='code'", "program"), ("missed='text'", "paper"))
    },
    "bi-lambdagap-x++@3(scale='paper', mu=2)": "bi-lambdagap-x++@3(definition='paper', mu=2)",
    "Lambda(weight=Swap(), pairs=TopMissed(k=5, how='all', missed='text'))": (
        "Lambda(weight=Swap(), pairs=TopMissed(k=5, how='all', definition='paper'))"
    ),
}

#: Names of metrics with parameters of earlier versions.
OLD_METRICS = {
    "map@10(per='relevant')": "map@10(divide_by='relevant')",
    "arp(per=one)": "arp(divide_by='one')",
    "p@3(rel=2, per=k)": "p@3(rel=2, divide_by='k')",
}


@pytest.mark.parametrize("text", OLD_TEXTS)
def test_objectives_of_old_files_are_read(text):
    objective = rw.objective(current_text(text))
    assert objective == rw.objective(OLD_TEXTS[text])
    assert current_text(repr(objective)) == repr(objective)


def test_an_old_weight_of_two_terms_is_their_sum(rng):
    # Gradients are linear in the weight.
    y, s = rng.integers(0, 3, 12), rng.normal(size=12)
    texts = ["Loss2(mu=2.0, rho=0.3)", "Swap()", "NDCGLoss2()", "Loss2(mu=0.0)"]
    with interpreted():
        both, swap, loss2, nothing = (
            np.array(rw.gradients(current_text(f"Lambda(weight={text})"), y, s)) for text in texts
        )
    np.testing.assert_allclose(both, 0.3 * swap + 2.0 * loss2, atol=1e-12)
    assert not nothing[0].any()


@pytest.mark.parametrize("text", OLD_OBJECTIVES)
def test_named_objectives_of_old_files_are_read(text):
    assert rw.objective(current_text(text)) == rw.objective(OLD_OBJECTIVES[text])
    with pytest.raises(rw.InputError, match="has no parameter"):
        rw.objective(text)


#: What texts of files before 0.5 meant.
OLD_DEFAULTS = {
    "lambdaloss-ex-static@5": "lambdaloss-ex-static@5(delta='exact')",
    "lambdaloss-ex-static@5(missed='code')": "lambdaloss-ex-static@5(delta='exact')",
    "bi-lambdaloss-ex++-all-bin@5(mu=2)": "bi-lambdaloss-ex++-all-bin@5(mu=2, delta='exact')",
    "lambdaloss-ex-static@5(delta='shifted')": "lambdaloss-ex-static@5(delta='shifted')",
    "lambdamart-ex-static@5": "lambdamart-ex-static@5",
    "Lambda(weight=NDCGLoss2(metric=NDCG(k=3)))": "Lambda(weight=NDCGLoss2(NDCG(ideal=3)))",
    "Lambda(weight=ByDistance(base=NDCGLoss2(metric=NDCG(k=3, ideal=2), delta='shifted')))": (
        "Lambda(weight=ByDistance(NDCGLoss2(NDCG(ideal=2), 'shifted')))"
    ),
    "Lambda(weight=NDCGLoss2(metric=NDCG(k=3, ideal=4)))": "Lambda(weight=NDCGLoss2(NDCG(ideal=3)))",
    "Lambda(weight=Sum(first=Swap(metric=DCG(k=3)), second=NDCGLoss2(metric=DCG(k=3))))": (
        "Lambda(weight=Sum(Swap(DCG(3)), NDCGLoss2(DCG())))"
    ),
    "Lambda(weight=Loss2(metric=NDCG(k=3)))": "Lambda(weight=NDCGLoss2(NDCG(ideal=3)))",
}


@pytest.mark.parametrize("text", OLD_DEFAULTS)
def test_defaults_of_old_files_stay(text):
    file = {"rankwood": "0.4.0", "params": {"objective": text}}
    read = old_names.updated(file)["params"]["objective"]
    assert rw.objective(read) == rw.objective(OLD_DEFAULTS[text])
    # Files of today mean what today's names mean.
    for version in ("0.5.0", "0.10.1", "1.0"):
        read = old_names.updated({**file, "rankwood": version})["params"]["objective"]
        assert rw.objective(read) == rw.objective(current_text(text))


@pytest.mark.parametrize("text", OLD_METRICS)
def test_metrics_of_old_files_are_read(text):
    assert rw.metric(current_text(text)) == rw.metric(OLD_METRICS[text])


def test_every_row_of_the_table_is_tried():
    texts = str([*OLD_TEXTS, *OLD_OBJECTIVES, *OLD_METRICS])
    for name in (*old_names.PARTS, *old_names._REWRITTEN):
        assert re.search(rf"\b{name}\(", texts), name
    for field in old_names.FIELDS:
        for owner in field.of:
            assert re.search(rf"\b{re.escape(owner)}[@(].*\b{field.old}=", texts), (owner, field)


@pytest.mark.parametrize("text", [*OLD_TEXTS, *OLD_METRICS])
def test_old_names_are_read_in_files_only(text):
    if current_text(text) != text:
        with pytest.raises(rw.InputError):
            (rw.objective if "Lambda" in text else rw.metric)(text)


def test_a_file_with_old_names_loads_and_predicts_the_same(tmp_path):
    data, path = rw.make_ranking(12, seed=1), tmp_path / "m.json"
    weight = "Scaled(Swap(NDCG(ideal=3)), 0.5)"
    metrics = ["map@5(divide_by='relevant')", "ndcg@10"]
    ranker = rw.Ranker(f"Lambda(weight={weight})", eval_metric=metrics, n_estimators=3, n_jobs=1)
    scores = ranker.fit(data, valid=data).predict(data)
    ranker.save(path)
    content = json.loads(path.read_text())
    old = "Lambda(weight=Times(base=Swap(metric=NDCG(ideal=3)), by=0.5), noise=Still())"
    content["objective"] = content["params"]["objective"] = old
    content["params"]["eval_metric"] = ["map@5(per='relevant')", "ndcg@10"]
    path.write_text(signed(content))
    loaded = rw.Ranker.load(path)
    np.testing.assert_array_equal(loaded.predict(data), scores)
    assert loaded.objective_ == ranker.objective_
    assert loaded.fit(data, valid=data).history_ == ranker.history_


def test_two_stages_hold_files_of_rankers():
    inside = {
        "first": {"objective": "Lambda(weight=One())"},
        "list": [{"eval_metric": "arp(per=one)"}],
    }
    assert updated({"params": inside, "history": {"arp(per=one)": [1.0]}}) == {
        "params": {
            "first": {"objective": "Lambda(weight=Uniform())"},
            "list": [{"eval_metric": "arp(divide_by=one)"}],
        },
        "history": {"arp(per=one)": [1.0]},
    }


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "ndcg@10",
            "lambdarank-ndcg@10(norm=False)",
            "own(per=3)",
            "Lambda(weight=Own(by=2))",
        ),
        *("One(", "One()" * 3, "One(\0)", "per=", "One(" * 500 + ")" * 500, "1(per=2)"),
        "Lambda(pairs=Either(first=Across(k=3), second=Apart(k=4)))",
    ],
)
def test_other_texts_stay_as_they_are(text):
    kept = text.replace("Across(", "AcrossCutoff(").replace("Apart(", "RanksApart(")
    assert current_text(text) == kept
    assert updated({"objective": text, "n": [1, None]}) == {"objective": kept, "n": [1, None]}
