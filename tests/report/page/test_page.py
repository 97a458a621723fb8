"""The page itself: what users named is escaped, nothing is fetched, and it stays small."""

import builtins
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import rankwood as rw
from rankwood.render import theme
from rankwood.render.table import Cell, Table
from rankwood.report.page import make_page

EVIL = '<script>alert("x")</script>'
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Ids, links and texts of a page; every element must be closed by the one that opened it."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.text, self.scripts = [], [], [], "", 0
        self.feed(str(page))  # Markup would escape what is added to it
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.scripts += tag == "script"
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        assert "src" not in attrs and not any(name.startswith("on") for name in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page():
    """A page on which everything that a user can name is a script."""
    rng = np.random.default_rng(5)
    y = rng.choice(3, 300, p=[0.6, 0.3, 0.1]).astype(float)
    ids = np.repeat([f"{EVIL} {q}" for q in range(30)], 10)
    features = [f"{EVIL} $x_1^2$", 'id="f" style="fill: #000000"', "_hidden", "语 \ud800 \x01"]
    X = y[:, None] + rng.normal(size=(300, 4))
    test = rw.RankingData(X, y, qid=ids, feature_names=features, comments=[EVIL] * 300)
    ranker = rw.Ranker(n_estimators=3, num_leaves=4, min_child_samples=5, n_jobs=1, verbose=False)
    models = {EVIL: ranker.fit(test, valid=test), "_b": X[:, 0], "c&amp;": X[:, 1]}
    return make_page(models, test, train=test, title=EVIL, metrics=["ndcg@5"], n_jobs=1)


def test_names_are_escaped_everywhere(page):
    read = Reader(page.html)
    assert read.scripts == 1  # our own
    assert "<script>alert" not in page.html.replace("&lt;", "")
    assert "alert(&quot;x&quot;)" in page.html and "c&amp;amp;" in page.html
    assert f"Query {EVIL} 7:" in read.text
    figures = re.findall("<figure>.*?</figure>", page.html, re.DOTALL)
    drawn = "".join(figures)
    assert "&lt;script&gt;alert" in drawn and "$x_1^2$" in read.text
    assert 'id="f" style="fill: #000000"' in read.text  # text of a picture stays as it is


def test_every_link_leads_somewhere_on_the_page(page):
    read = Reader(page.html)
    assert len(read.ids) == len(set(read.ids))
    inside = [link[1:] for link in read.links if link.startswith("#")]
    assert len(inside) > 100 and set(inside) <= set(read.ids)
    assert [link for link in read.links if not link.startswith("#")] == ["data:,"]
    assert 'target="_blank"' not in page.html
    for word in ("http:", "https:", "url(h", "@import"):
        assert word not in page.html


def test_every_section_is_there(page):
    sections = re.findall(r'<section id="(\w+)">', page.html)
    assert sections == [
        *("metrics", "curves", "scatter", "queries"),
        *("breakdown", "features", "objective", "parameters"),
    ]


def test_points_of_the_scatter_are_links_to_their_queries(page):
    (first, second) = re.findall(r"<figure><svg[^>]*against.*?</figure>", page.html, re.DOTALL)
    for figure in (first, second):
        found = re.findall(r'<a href="#(q-\d+)" tabindex="-1"><title>query ([^<]*): ', figure)
        assert len(found) == 30
        assert all(f"{q[2:]}" == title.split()[-1] for q, title in found)


def test_colours_are_those_of_the_style_sheet(page):
    drawn = "".join(re.findall("<figure>.*?</figure>", page.html, re.DOTALL))
    tags = " ".join(re.findall(r"<[^>]+>", drawn))
    assert re.findall(r"#[0-9a-fA-F]{6}\b", tags) == []  # none that dark mode would not change
    style = page.html.split("<style>")[1].split("</style>")[0]
    light, dark = (dict(re.findall(r"(--\w+): (#\w+)", part)) for part in style.split("@media")[:2])
    assert set(theme.COLOURS.values()) <= light.keys() == dark.keys()
    for colours in (light, dark):
        for name in ("--text", "--dim", "--link", "--good", "--bad"):
            assert contrast(colours[name], colours["--page"]) >= 4.5, name
        for name in ("--blue", "--red", "--green", "--pink", "--sky", "--orange"):
            assert contrast(colours[name], colours["--page"]) >= 2.7, name


def contrast(one, other):
    """The contrast ratio of two colours, as the WCAG define it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_the_same_models_give_the_same_page(tmp_path):
    test = rw.load_demo("test")
    scores = {"a": np.nan_to_num(test.X[:, 0]), "b": np.nan_to_num(test.X[:, 1])}
    one, other = (make_page(scores, test, metrics="ndcg@10", n_jobs=1) for _ in range(2))
    assert one.html == other.html
    assert one.title == "a and b" and repr(one) == "Page('a and b', 0.2 MB)"
    one.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == one.html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(rw.InputError, match="it is a directory"):
        one.save(tmp_path)


@pytest.mark.slow
def test_pages_of_many_queries_stay_small_and_say_so():
    rng = np.random.default_rng(0)
    y = rng.choice(4, 10_000 * 30, p=[0.7, 0.1, 0.1, 0.1]).astype(float)
    names = [f"docid = D{i} with some words about it" for i in range(y.size)]
    data = rw.RankingData(np.zeros((y.size, 1)), y, group=[30] * 10_000, comments=names)
    models = {f"the model number {i}": y + 3 * rng.normal(size=y.size) for i in range(4)}
    page = make_page(models, data, metrics=["ndcg@10"], n_jobs=1)
    assert len(page.html.encode()) < 3_000_000
    text = " ".join(Reader(page.html).text.split())
    assert "2,000 of 10,000 queries are drawn." in text
    assert re.search(r"[\d,]+ of 10,000 queries are here: those that change most", text)
    assert re.search(r"[\d,]+ of 10,000 queries are shown: those that change most", text)
    assert "20 of 30 documents are shown." in text


def test_evaluations_alone_make_a_page():
    test = rw.load_demo("test")
    ev = [rw.evaluate(["ndcg@5", "map"], test, np.nan_to_num(test.X[:, i])) for i in range(2)]
    for models, sections in ((ev[0], 2), (ev, 3)):
        found = re.findall(r'<section id="(\w+)">', make_page(models).html)
        assert found[0] == "metrics" and "breakdown" not in found and len(found) == sections + 1


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_pages_of_almost_nothing(y):
    data = rw.RankingData(np.zeros((3, 1)), y, qid=[1, 1, 2])
    for models in ([1.0, 1.0, 1.0], {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}):
        page = make_page(models, data, metrics=["ndcg@10", "arp"], n_jobs=1)
        Reader(page.html)
        assert page.html.rstrip().endswith("</html>")


def test_a_missing_package_is_one_sentence(monkeypatch):
    really = builtins.__import__

    def refuse(name, *rest):
        if name == "jinja2":
            raise ImportError(name)
        return really(name, *rest)

    theme.environment.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(rw.InputError, match=r"pip install 'rankwood\[report\]'"):
        make_page([1.0], rw.RankingData([[1.0]], [1]))


def test_tables_of_other_pages():
    table = Table(EVIL, ["<a>", "n"], [[Cell("<b>", link="x"), Cell("1", "*")]], 1, ["<i>"], [0])
    made = theme.table_html(table, row_ids=["r-1"])
    read = Reader(made)
    assert read.ids == ["r-1"] and read.links == ["#x"]
    assert "<b>" in read.text and "<i>" in read.text and EVIL in read.text
    assert theme.table_html(Table("none", ["a"], [], 0)).count("<td") == 0
    page = theme.render_page(EVIL, "<p>as it is</p>", subtitle="<s>", contents=[("a", "<u>")])
    assert "<p>as it is</p>" in page and Reader(page).scripts == 1
