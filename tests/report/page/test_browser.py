"""The page in a real browser: no errors, tables sort, links open what they lead to, and nothing is too wide.

A script at the end of a copy of the page plays the user and writes down what it sees; headless Chromium then prints
the document.
"""

import json
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest

import rankwood as rw
from rankwood.report.page import make_page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

WATCH = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
for (const kind of ["error", "warn"]) console[kind] = (...words) => problems.push(words.join(" "));
</script>"""

PLAY = """<script>
setTimeout(() => {
  const seen = {};
  const wait = () => new Promise((done) => setTimeout(done, 50));
  const column = (table, i) => [...table.tBodies[0].rows].map((row) => row.cells[i].textContent);
  const play = async () => {
    const table = document.querySelector("#features table");
    const heads = [...table.tHead.rows[0].cells];
    seen.buttons = [...document.querySelectorAll("table.sortable th")].every(
      (th) => th.querySelector("button").tabIndex === 0);
    for (const [name, i] of [["words", 0], ["numbers", 1]]) {
      seen[name] = [];
      for (let click = 0; click < 2; click++) {
        heads[i].querySelector("button").click();
        seen[name].push([heads[i].getAttribute("aria-sort"), column(table, i)]);
      }
    }
    seen.sorted = table.querySelectorAll("[aria-sort]").length;
    const means = document.querySelector("#metrics table");
    means.tHead.rows[0].cells[1].querySelector("button").click();
    seen.means = column(means, 1);
    seen.hidden = means.parentElement.scrollWidth - means.parentElement.clientWidth;
    const point = document.querySelector("#scatter svg a");
    const target = document.getElementById(point.getAttribute("href").slice(1));
    seen.before = [target.tagName, target.open, target.parentElement.open];
    point.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    await wait();
    const box = target.getBoundingClientRect();
    seen.after = [location.hash === point.getAttribute("href"), target.open];
    seen.visible = box.height > 0 && box.top >= -1 && box.top < innerHeight;
    const dead = [...document.querySelectorAll("a[href]")].filter(
      (a) => !document.getElementById(a.getAttribute("href").slice(1)));
    seen.dead = dead.length;
    seen.width = [document.documentElement.scrollWidth, innerWidth];
    seen.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
    seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    seen.colours = [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor];
    seen.problems = problems;
    return seen;
  };
  const tell = (what) => parent.postMessage(JSON.stringify(what), "*");
  play().then(tell, (error) => tell({ failed: String(error) }));
}, 0);
</script></body>"""


# Headless windows are at least 500 pixels wide, frames are not.
FRAME = """<!doctype html><body><script>
addEventListener("message", (event) => { document.body.dataset.seen = event.data; });
</script><iframe src="page.html" style="width: WIDTHpx; height: 900px; border: 0"></iframe></body>"""


def see(page, folder, width, *options):
    """Open a page, play the user, and return what the script saw."""
    html = page.html.replace("<head>", "<head>" + WATCH, 1)
    html = html.replace("</body>", PLAY, 1)
    (folder / "page.html").write_text(html, encoding="utf-8")
    (folder / "frame.html").write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    command = [
        *(
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder}/user",
        ),
        *("--virtual-time-budget=5000", *options, "--dump-dom", (folder / "frame.html").as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<body[^>]* data-seen="([^"]*)"', done.stdout)
    assert found, done.stdout[-500:] + done.stderr[-500:]
    return json.loads(unescape(found[1]))


@pytest.fixture(scope="module")
def page():
    train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
    ranker = rw.Ranker(n_estimators=5, num_leaves=7, n_jobs=1, verbose=False)
    long_name = (
        "a model whose name is rather long, as they often are </script><script>alert(1)</script>, "
        + "without_a_blank_" * 10
    )
    models = {"one": ranker.fit(train, valid=valid), long_name: np.nan_to_num(test.X[:, 0])}
    return make_page(models, test, metrics=["ndcg@10", "map"], n_jobs=1)


@pytest.fixture(scope="module", params=[1280, 400])
def seen(request, page, tmp_path_factory):
    found = see(page, tmp_path_factory.mktemp("browser"), request.param, "--window-size=1400,1000")
    assert found.get("width", [0, 0])[1] == request.param, found
    return found


def test_there_are_no_errors_and_no_requests(seen):
    assert seen["problems"] == []
    assert seen["fetched"] == []


def test_tables_sort_by_their_headings(seen):
    assert seen["buttons"]
    (up, first), (down, last) = seen["words"]
    assert (up, down) == ("ascending", "descending")
    numbers = [int(name.removeprefix("f")) for name in first]
    assert numbers == sorted(numbers) and first == last[::-1]
    (down, first), (up, last) = seen["numbers"]
    assert (down, up) == ("descending", "ascending")
    shares = [float(text.rstrip(" %")) for text in first]
    assert len(set(shares)) > 3 and shares == sorted(shares, reverse=True)
    assert [float(text.rstrip(" %")) for text in last] == sorted(shares)
    assert seen["sorted"] == 1
    values = [float(text.split(" ")[0].rstrip("*†")) for text in seen["means"]]
    assert len(values) == 4 and values == sorted(values, reverse=True)


def test_a_click_on_a_point_opens_its_query(seen):
    assert seen["before"] == ["DETAILS", False, False]
    assert seen["after"] == [True, True]
    assert seen["visible"]
    assert seen["dead"] == 0


def test_nothing_is_wider_than_the_window(seen):
    content, window = seen["width"]
    assert content <= window
    # A long name is broken, so that a table of few columns needs no scrolling on a large screen.
    assert seen["hidden"] == 0 or window == 400


def test_dark_mode(page, tmp_path):
    seen = see(page, tmp_path, 1280, "--force-dark-mode", "--blink-settings=preferredColorScheme=0")
    if not seen["dark"]:
        pytest.skip("this Chromium has no switch for dark mode")
    assert seen["colours"] == ["rgb(221, 227, 234)", "rgb(20, 24, 31)"]
