"""Pages: what they say, and that nothing a user names breaks them."""

import csv
import io
import re
import shutil
from dataclasses import replace

import pytest

import rankwood as rw
from rankwood.reproduce import run, sources
from rankwood.reproduce.kinds import curves
from rankwood.reproduce.kinds.metrics import _best
from rankwood.reproduce.pages import figures
from rankwood.reproduce.recipes.recipe import MetricColumn, Row
from rankwood.reproduce.values import TableColumn, Value
from tests.helpers import tiny_paper as tiny


def rows_of(result):
    return list(csv.DictReader(io.StringIO(result.to_csv())))


LINES = figures.lines_figure


def test_other_data_is_said_plainly(paper, data, tmp_path):
    result = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    page = result.to_markdown()
    assert "mslr10k: this is another data set, small" in page
    assert "differences are omitted" in page
    assert "Left out because no data was given: mslr30k" in page
    assert "What the paper printed for mslr10k, which is other data" in page
    assert "difference |" not in page
    assert {row["difference"] for row in rows_of(result)} == {""}
    assert "Rows that can't be run yet: Network" in page
    assert "Network (not run: neural rankers)" in page


def test_the_papers_own_data_has_differences(paper, data, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_is_published", lambda role, split: True)
    result = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    page = result.to_markdown()
    assert "another data set" not in page
    assert "| NDCG@3 | paper | difference |" in page
    for row in rows_of(result):
        if row["ours"] and row["paper"]:
            wanted = float(row["ours"]) - float(row["paper"])
            assert float(row["difference"]) == pytest.approx(wanted)
    [perfect] = [r for r in rows_of(result) if r["row"] == "Perfect" and r["setting"] == "k=3"]
    assert (float(perfect["ours"]), perfect["difference"]) == (100, "0.0")
    assert re.search(r"\| RankNet \|.*\| 41.00\\\* \| [+-]\d", page)


def test_pages_say_how_many_queries(paper, data, tmp_path):
    page = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False).to_markdown()
    tested = rw.load_letor(data / "test.txt").groups.ids.size
    assert f"small (1 of 1 fold, {tested} test queries)" in page


def test_curves_say_how_they_count(paper, data, tmp_path, monkeypatch):
    page = run("tiny/figure1", {"mslr10k": data}, tmp_path, verbose=False).to_markdown()
    assert "queries without a relevant document count 0 in them" in page
    tiny.use(monkeypatch, tmp_path / "zero", tiny.RECIPE.replace("empty = 1", "empty = 0"))
    page = run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False).to_markdown()
    assert "count 0" not in page


@pytest.mark.parametrize(("skip", "first"), [(1, 2), (2, 3), (10, 1)])
def test_first_rounds_are_skipped_unless_there_are_no_others(
    paper, data, tmp_path, monkeypatch, skip, first
):
    """The runs have four rounds, and numbers of rounds are whole."""
    text = tiny.RECIPE.replace('curve = "valid"', f'curve = "valid"\nskip = {skip}')
    tiny.use(monkeypatch, tmp_path / "skip", text)
    drawn = []
    monkeypatch.setattr(
        figures, "lines_figure", lambda *given: drawn.append(LINES(*given)) or drawn[-1]
    )
    run("tiny/figure1", {"mslr10k": data}, tmp_path, verbose=False)
    for ax in drawn[0].axes:
        (line,) = ax.get_lines()
        assert line.get_xdata().tolist() == list(range(first, 5))
        assert all(tick == int(tick) for tick in ax.get_xticks())


def test_a_group_that_the_panels_title_says_is_not_repeated():
    row = Row("LambdaMART", group="k = 5")
    assert curves.label(row, {"k": 5}) == "LambdaMART"
    assert curves.label(row, {"k": 10}) == curves.label(row) == "k = 5: LambdaMART"


def test_false_documents_are_those_of_the_figures_cutoff(paper, data, tmp_path, monkeypatch):
    """Also for a row whose objective has no cutoff; one that has no such curve is named."""
    rows = """[
  { name = "cut", objective = "lambdarank-ndcg@{k}" },
  { name = "whole", objective = "lambdarank-ndcg", stop = "ndcg@{k}" },
]"""
    text = tiny.RECIPE.replace(
        'rows = [{ name = "LambdaMART", objective = "lambdarank-ndcg@{k}" }]', f"rows = {rows}"
    ).replace('curve = "valid"', 'curve = "false_over_missed"\nscale = 100')
    tiny.use(monkeypatch, tmp_path / "coherency", text)
    result = run("tiny/figure1", {"mslr10k": data}, tmp_path, verbose=False)
    found = {(r["row"], r["setting"], r["round"]): float(r["value"]) for r in rows_of(result)}
    train, valid = (rw.load_letor(data / f"{n}.txt") for n in ("train", "vali"))
    ranker = rw.Ranker("lambdarank-ndcg", n_estimators=4, num_leaves=5, learning_rate=0.2)
    ranker.set_params(extra_trees=False, subsample=0.7, subsample_freq=1, record="coherency@5")
    curve = ranker.fit(train, valid=valid).record_["false_over_missed"]
    assert [found["whole", "k=5", str(i + 1)] for i in range(4)] == [100 * v for v in curve]
    assert "Rows without a curve" not in result.to_markdown()
    assert "over a missed" in (svg := (tmp_path / "tiny-figure1.svg").read_text())
    assert "percent" in svg
    by_text = text.replace('over_missed"', 'over_missed"\ndefinition = "paper"')
    tiny.use(monkeypatch, tmp_path / "text", by_text)
    result = run("tiny/figure1", {"mslr10k": data}, tmp_path, verbose=False)
    found = {(r["row"], r["setting"], r["round"]): float(r["value"]) for r in rows_of(result)}
    again = ranker.set_params(record="coherency@5(definition=paper)").fit(train, valid=valid)
    defined = again.record_["false_over_missed"]
    assert [found["whole", "k=5", str(i + 1)] for i in range(4)] == [100 * v for v in defined]
    assert defined != curve
    wrong = text.replace("over = { k = [3, 5] }\ncurve", "over = { n = [3] }\ncurve")
    tiny.use(monkeypatch, tmp_path / "none", wrong.replace("@{k}", "@{n}"))
    page = run("tiny/figure1", {"mslr10k": data}, tmp_path / "out", verbose=False).to_markdown()
    assert "Rows without a curve: whole." in page


def test_tables_without_tests_explain_none(paper, data, tmp_path, monkeypatch):
    columns = 'columns = [{ metric = "ndcg@{k}", split = "train" }]\nbaseline'
    text = tiny.RECIPE.replace('columns = ["ndcg@{k}"]\nbaseline', columns)
    tiny.use(monkeypatch, tmp_path / "train", text)
    page = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False).to_markdown()
    assert "Bold" not in page and "test (" not in page


def test_axes_of_a_sweep(paper, data, tmp_path, monkeypatch):
    """Every value has its tick, the label has the unit, and files are short."""
    text = tiny.RECIPE.replace(
        'metric = "ndcg@{k}"\nrows', 'metric = "ndcg@{k}"\nscale = 100\nrows'
    )
    tiny.use(monkeypatch, tmp_path / "percent", text)
    run("tiny/figure2", {"mslr10k": data}, tmp_path, verbose=False)
    svg = (tmp_path / "tiny-figure2.svg").read_text()
    assert all(f">{value}<" in svg for value in ("0.05", "0.1", "0.2", "ndcg@k, percent"))
    assert not re.search(r"\d\.\d{3}", svg)
    relative = text.replace("scale = 100\nrows", "relative = 0.1\nrows")
    tiny.use(monkeypatch, tmp_path / "relative", relative)
    run("tiny/figure2", {"mslr10k": data}, tmp_path, verbose=False)
    svg = (tmp_path / "tiny-figure2.svg").read_text()
    assert "rate\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.1" in svg


def test_names_are_escaped(paper, data, tmp_path):
    odd = tmp_path / "a<b>|c_$&d"
    shutil.copytree(data, odd)
    result = run("tiny/table1", {"mslr10k": odd}, tmp_path / "out", verbose=False)
    assert r"a\<b\>\|c\_\$&d" in result.to_markdown()
    assert "a<b>" not in result.to_markdown()
    assert "a&lt;b&gt;|c_$&amp;d" in result.to_html()
    assert "a<b>" not in result.to_html()
    assert "<note>" not in result.to_html()
    assert r"a\textless{}b\textgreater{}|c\_\$\&d" in result.to_latex()
    assert {row["data"] for row in rows_of(result)} == {"a<b>|c_$&d"}
    figure = run("tiny/figure1", {"mslr10k": odd}, tmp_path / "out", verbose=False)
    svg = (tmp_path / "out" / "tiny-figure1.svg").read_text()
    assert "a&lt;b&gt;|c_$&amp;d" in svg
    assert "a<b>" not in figure.to_html()


def test_pages_are_the_same_each_time(paper, data, tmp_path):
    made = []
    for _ in range(2):
        result = run("tiny/all", {"mslr10k": data}, tmp_path, verbose=False)
        made.append({path: path.read_bytes() for r in result for path in r.files})
    assert made[0] == made[1]
    endings = {path.suffix for path in made[0]}
    assert endings == {".md", ".html", ".tex", ".csv", ".svg", ".png"}
    assert all(len(content) < 150_000 for path, content in made[0].items())


def test_latex_is_in_balance(paper, data, tmp_path):
    text = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False).to_latex()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    body = re.sub(r"(?m)^%.*$|\\[{}]", "", text)
    assert body.count("{") == body.count("}")
    assert r"\toprule" in text


def test_parameters_stand_beside_the_printed_ones(paper, tmp_path):
    result = run("tiny/table3", out=tmp_path, verbose=False)
    assert result.cells == 0
    found = {
        (r["role"], r["row"], r["parameter"]): (r["ours"], r["paper"]) for r in rows_of(result)
    }
    assert found["mslr10k", "LambdaMART", "num_leaves"] == ("5", "5")
    assert found["mslr30k", "LambdaMART", "num_leaves"] == ("7", "")
    assert found["mslr10k", "RankNet", "learning_rate"] == ("0.1", "")


def test_statistics_are_those_of_plain_loops(paper, data, tmp_path):
    result = run("tiny/table2", {"mslr10k": data}, tmp_path, verbose=False)
    found = {(r["row"], r["statistic"]): float(r["ours"]) for r in rows_of(result)}
    for name, files in (("Train", ["train"]), ("All", ["train", "vali", "test"])):
        lists, labels, features = {}, [], 0
        for file in files:
            for line in (data / f"{file}.txt").read_text().splitlines():
                words = line.split("#")[0].split()
                lists.setdefault((file, words[1]), []).append(float(words[0]))
                labels.append(float(words[0]))
                features = max([features, *(int(word.split(":")[0]) for word in words[2:])])
        lengths = sorted(map(len, lists.values()))
        assert found[name, "queries"] == len(lengths)
        assert found[name, "documents"] == sum(lengths)
        assert found[name, "features"] == features
        middle = (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2
        assert found[name, "documents_median"] == middle
        assert found[name, "label_share_0"] == labels.count(0) / len(labels)
        assert found[name, "pairs"] == sum(n * (n - 1) // 2 for n in lengths)
        assert found[name, "top_pairs"] == sum(min(n, 6) * (min(n, 6) - 1) for n in lengths)


def test_times_are_ratios_to_the_baseline(paper, data, tmp_path):
    result = run("tiny/table4", {"mslr10k": data}, tmp_path, verbose=False)
    assert result.cells == 4  # two rows, two turns
    found = {(r["row"], r["measure"]): r for r in rows_of(result)}
    assert float(found["LambdaMART", "training"]["ratio"]) == 1
    assert float(found["RankNet", "training"]["paper"]) == 1.5  # 15 of 10
    assert float(found["RankNet", "objective call"]["paper"]) == 0.5
    ratio = float(found["RankNet", "training"]["ratio"])
    both = [float(found[name, "training"]["milliseconds"]) for name in ("RankNet", "LambdaMART")]
    assert ratio == pytest.approx(both[0] / both[1], rel=1e-3)
    page = result.to_markdown()
    ratios, times = page.split("milliseconds")
    assert "| RankNet" in ratios
    [line] = [one for one in times.splitlines() if one.startswith("| RankNet")]
    shown = [float(text) for text in line.split("|")[2:4]]
    assert shown == [
        float(f"{float(found['RankNet', measure]['milliseconds']):.3g}")
        for measure in ("training", "objective call")
    ]
    assert "of fold 1 with seed 0." in page


def test_a_sweep_trains_a_level_once(paper, data, tmp_path):
    result = run("tiny/figure2", {"mslr10k": data}, tmp_path, verbose=False)
    assert result.cells == 3 + 1
    found = {(r["row"], r["x"]): float(r["ours"]) for r in rows_of(result)}
    assert len({found["RankNet", x] for x in ("0.05", "0.1", "0.2")}) == 1
    table = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    [same] = [r for r in rows_of(table) if (r["row"], r["setting"]) == ("LambdaMART", "k=5")]
    assert found["LambdaMART", "0.2"] * 100 == pytest.approx(float(same["ours"]))


def test_the_best_is_bold():
    columns = [
        TableColumn(0, {}, MetricColumn("ndcg@5"), "x"),
        TableColumn(1, {}, MetricColumn("arp"), "y"),
    ]
    lines = [
        [Value(Row(name), c, v, 0.0) for c, v in zip(columns, values, strict=True)]
        for name, values in (("a", (0.5, 3.0)), ("b", (0.6, 4.0)), ("c", (0.6, float("nan"))))
    ]
    bounds = [replace(Row("perfect"), model="perfect")]
    lines.append([Value(bounds[0], c, v, 0.0) for c, v in zip(columns, (1.0, 1.0), strict=True)])
    assert _best(lines) == [{1}, {0}, {0}, set()]


def test_best_of_each_group_as_baseline(paper, data, tmp_path, monkeypatch):
    text = tiny.RECIPE.replace('baseline = "LambdaMART"\ndigits', 'baseline = "best"\ndigits')
    tiny.use(monkeypatch, tmp_path / "best", text)
    result = run("tiny/table1", {"mslr10k": data}, tmp_path, verbose=False)
    assert "worse than the best model" in result.to_markdown()
    trees = [r for r in rows_of(result) if r["group"] == "trees" and r["setting"] == "k=3"]
    best = max(trees, key=lambda r: float(r["ours"]))
    assert best["paper_test_p"] == ""
    assert all(r["paper_test_p"] for r in trees if r is not best)
