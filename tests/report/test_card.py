"""Model cards: what the file says, for every kind of model, without a path of anybody's machine."""

import json

import numpy as np
import pytest

import rankwood as rw
from rankwood.report.card import read_card
from tests.helpers.cli_calls import answer, caller, check_help, complaint
from tests.helpers.random_lists import random_lists


@pytest.fixture(scope="module")
def data():
    X, y, sizes = random_lists(np.random.default_rng(4), queries=15, longest=15, features=3)
    return rw.RankingData(X, y, group=sizes, feature_names=["price", "a|b", "`x`<i>"])


def small(objective="lambdarank-ndcg@10", **params):
    return rw.Ranker(objective, **{"n_estimators": 3, "num_leaves": 4, "n_jobs": 1, **params})


def rows_of(text, head):
    """Return the rows of the table under a heading, as lists of cells."""
    lines = text.split(f"\n## {head}\n")[1].split("\n## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in line[2:-2].split(" | ")] for line in table[2:]]


def test_a_card_has_what_the_file_has(data, tmp_path):
    ranker = small(eval_metric=["ndcg@10", "p@3"]).fit(data, valid=data)
    ranker.save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    card = read_card(tmp_path / "m.json")
    text = card.to_markdown(tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text() == text
    assert text.startswith("# Model card: `lambdarank-ndcg@10`\n")
    assert f"| sha256 | `{content['sha256']}` |" in text
    assert f"| training data | 15 queries, {len(data)} documents |" in text
    assert content["origin"]["fingerprint"] in text
    kept = ranker.best_iteration_
    for row, name in zip(rows_of(text, "Metrics"), ("ndcg@10", "p@3"), strict=True):
        assert row[1:4] == [name, "validation", f"{ranker.history_[name][kept - 1]:.4f}"]
    params = dict(rows_of(text, "Parameters"))
    assert params["`engine`"] == "`lightgbm`" == f"`{ranker.engine_}`"  # which was left open
    assert params["`num_leaves`"] == "`4`" and params["`learning_rate`"] == "`0.05`"
    assert [row[1] for row in rows_of(text, "Features")] == ["`price`", r"`a\|b`", "`` `x`<i> ``"]
    versions = dict(rows_of(text, "Versions"))
    assert versions["rankwood"] == rw.__version__ and "lightgbm" in versions
    assert str(tmp_path) not in text
    # The same from the model itself; a file has a name and a digest, too.
    own = ranker.card().to_dict()
    assert own == {
        n: v for n, v in card.to_dict().items() if n not in ("file", "sha256", "rankwood")
    }


def test_no_path_of_the_machine_is_on_it(data, tmp_path):
    hidden = tmp_path / "secret" / "forced.json"
    hidden.parent.mkdir()
    hidden.write_text("[]")
    ranker = small(forcedbins_filename=str(hidden)).fit(data)
    text = ranker.card().to_markdown()
    assert "`forced.json`" in text and "secret" not in text and "/" not in text.replace("://", "")
    ranker.set_params(forcedbins_filename=r"C:\Users\me\bins.json")
    assert "Users" not in ranker.card().to_markdown()


def test_two_stages_and_the_digest_of_data(data, tmp_path):
    model = rw.TwoStage(
        small(), small("lambdarank-ndcg@5"), top=5, folds=2, serve="refit", verbose=False
    )
    model.fit(data, valid=data).save(tmp_path / "two.json")
    card = read_card(tmp_path / "two.json")
    text = card.to_markdown()
    names = [
        "first stage, fold 1",
        "first stage, fold 2",
        "first stage, all queries",
        "second stage",
    ]
    assert [stage["name"] for stage in card.to_dict()["stages"]] == names
    assert (
        text.startswith("# Model card: `lambdarank-ndcg@5`")
        and "rw.TwoStage.load('two.json')" in text
    )
    assert "| parameter | first stage | second stage |" in text
    assert "| `top` | `5` |" in text
    again = rw.TwoStage.load(tmp_path / "two.json")
    assert again.card().to_dict() == model.card().to_dict()
    # The digest is that of the data: other labels, another digest.
    same, other = small().fit(data), small().fit(rw.RankingData(data.X, 2 - data.y.clip(max=2)))
    assert same.origin_["fingerprint"] == model.origin_["fingerprint"]
    assert other.origin_["fingerprint"] != same.origin_["fingerprint"]


def test_older_files_and_damaged_ones(demo_model, tmp_path):
    from rankwood._util.envelope import write_content

    path = tmp_path / "m.json"
    demo_model("lightgbm").save(path)
    content = json.loads(path.read_text())
    header = ("format", "format_version", "rankwood", "kind", "sha256")
    body = {name: value for name, value in content.items() if name not in header}
    write_content({n: v for n, v in body.items() if n != "origin"}, path)
    text = read_card(path).to_markdown()
    assert "digest" not in text and "## Versions" not in text
    assert not hasattr(rw.Ranker.load(path), "origin_")
    for bad in ({"origin": {"fingerprint": 3}}, {"origin": {"fingerprint": "a", "versions": [1]}}):
        write_content({**body, **bad}, path)
        assert "digest" not in read_card(path).to_markdown()
        assert not hasattr(rw.Ranker.load(path), "origin_")
    for bad in ({"params": 3}, {"history": {"ndcg@10": 7}}, {"data_size": "many"}):
        write_content({**body, **bad}, path)
        with pytest.raises(rw.InputError, match="is damaged"):
            read_card(path)


def test_the_command(demo_model, capsys, tmp_path):
    model = demo_model("lightgbm")
    model.save(tmp_path / "m.json")
    call = caller(capsys, tmp_path, "card")
    check_help(call("--help"), "card")
    code, out, err = call("@m.json")
    assert (code, err) == (0, "") and out == read_card(tmp_path / "m.json").to_markdown()
    code, said, _ = call("@m.json -o @card.md")
    assert code == 0 and "the card of" in said and (tmp_path / "card.md").read_text() == out
    assert answer(call("@m.json --json"))["n_features"] == model.n_features_in_
    assert "can't be read" in complaint(call("@missing.json"))
    assert "is read by this command" in complaint(call("@m.json -o @m.json"))
