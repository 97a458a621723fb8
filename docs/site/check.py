"""Open every page of build/site in a browser, and report what is wrong with it.

    pip install playwright
    python docs/site/check.py                               # the whole site, after python docs/site
    python docs/site/check.py --pages 'reference/*.html'    # some pages
    python docs/site/check.py --pictures shots --pages index.html  # screenshots too

Each page is opened 1280 and 400 pixels wide, light and dark. Errors in the console, requests that fail, links and
anchors that lead nowhere, pictures without a description and elements that stick out of the window are reported, and
so are searches that don't find what they should. Playwright's own browser is not needed: Chromium or Chrome of the
system is used.
"""

import argparse
import functools
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlparse

SITE = Path(__file__).parents[2] / "build" / "site"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTHS = (1280, 400)
MODES = ("light", "dark")
#: What to search for, and a pattern that the address of one of the first results must match.
SEARCHES = {
    "lambdarank-ndcg": r"objective|reference|names",
    "early stopping": r"early|how-?to|training|tutorial|getting-started|Ranker",
    "NULL": r"data|categor|how-?to|format|faq|frame|query",
}
FIRST_RESULTS = 5

#: Elements that stick out of the window or of the column of the text, and are not inside a box that scrolls.
_TOO_WIDE = """() => {
  const wide = innerWidth + 1, found = [];
  if (document.scrollingElement.scrollWidth > wide)
    found.push(`the page is ${document.scrollingElement.scrollWidth} pixels wide`);
  const column = document.querySelector(".bd-article-container")?.getBoundingClientRect().right ?? wide;
  const boxed = e => {
    for (let p = e.parentElement; p && !p.matches(".bd-article, body"); p = p.parentElement)
      if (getComputedStyle(p).overflowX !== "visible") return true;
    return false;
  };
  for (const e of document.querySelectorAll(".bd-main *, .bd-header *")) {
    const box = e.getBoundingClientRect();
    if (e.closest(".bd-sidebar-secondary")) continue;  // a drawer, which waits outside
    const limit = e.closest(".bd-article") ? Math.min(wide, column + 1) : wide;
    if (box.width > 1 && box.height > 1 && box.right > limit && e.checkVisibility() && !boxed(e))
      found.push(`<${e.tagName.toLowerCase()} class="${e.className}"> ends at ${Math.round(box.right)}`);
  }
  return found.slice(0, 3);
}"""
#: Formulas are drawn after the page has loaded.
_WAIT = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
_LINKS = "() => [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"
_IDS = "() => [...document.querySelectorAll('[id]')].map(e => e.id)"
_NO_ALT = "() => [...document.images].filter(i => !i.alt.trim()).map(i => i.getAttribute('src'))"
_NOT_LOADED = (
    "() => [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
)


class Visit(NamedTuple):
    """What a page has: addresses that it links to, and names that links can lead to."""

    links: list[str]
    ids: set[str]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port; yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


def check(browser: Any, base: str, site: Path, pages: list[str], pictures: Path | None) -> int:
    """Print what is wrong with pages, and return how much it is."""
    tab = browser.new_page()
    wrong: list[str] = []
    tab.on("console", lambda m: wrong.append(f"console: {m.text}") if m.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    tab.on("requestfailed", lambda request: wrong.extend(failure(request)))
    visits, total = {}, 0
    for number, name in enumerate(pages, 1):
        wrong.clear()
        tab.goto(base + name, wait_until="load")
        tab.evaluate(_WAIT)
        visits[name] = Visit(tab.evaluate(_LINKS), set(tab.evaluate(_IDS)))
        wrong += [f"picture without a description: {src}" for src in tab.evaluate(_NO_ALT)]
        wrong += [f"picture not shown: {src}" for src in tab.evaluate(_NOT_LOADED)]
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            for mode in MODES:
                tab.emulate_media(color_scheme=mode)
                if pictures:
                    tab.wait_for_timeout(400)  # colours change slowly
                    file = (
                        pictures
                        / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{mode}.png"
                    )
                    tab.screenshot(path=file)
            wrong += [f"{width} pixels: {what}" for what in tab.evaluate(_TOO_WIDE)]
        total += report(name, wrong)
        if number % 50 == 0:
            print(f"{number} of {len(pages)} pages", file=sys.stderr)
    if len(pages) > 1:
        total += sum(report(name, broken_links(name, visits, base, site)) for name in pages)
        total += report("search.html", searches(tab, base))
    return total


def failure(request: Any) -> list[str]:
    """Return that a request failed, unless the next page was opened before it was done."""
    reason = request.failure or ""
    return [] if "ERR_ABORTED" in reason else [f"request failed: {request.url} ({reason})"]


def report(name: str, wrong: list[str]) -> int:
    """Print what is wrong with a page; return how much."""
    for what in dict.fromkeys(wrong):
        print(f"{name}: {what}", flush=True)
    return len(set(wrong))


def broken_links(name: str, visits: dict[str, Visit], base: str, site: Path) -> list[str]:
    """Return the links of a page that lead to no file of the site, or to no place on its page."""
    broken = []
    for link in visits[name].links:
        address, anchor = urldefrag(urljoin(base + name, link))
        if not address.startswith(base):
            continue
        target = unquote(urlparse(address).path).lstrip("/") or "index.html"
        if not (site / target).is_file():
            broken.append(f"broken link: {link}")
        elif anchor and target in visits and unquote(anchor) not in visits[target].ids:
            broken.append(f"no such place: {link}")
    return broken


def searches(tab: Any, base: str) -> list[str]:
    """Return what is wrong with the results of some searches."""
    wrong = []
    tab.set_viewport_size({"width": WIDTHS[0], "height": 900})
    for words, expected in SEARCHES.items():
        tab.goto(f"{base}search.html?q={words}", wait_until="networkidle")
        tab.wait_for_function("() => /found|did not match/.test(document.body.innerText)")
        tab.wait_for_timeout(500)  # results appear one after another
        links = "() => [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
        found = [link.removeprefix(base).partition("?")[0] for link in tab.evaluate(links)]
        print(f"search {words!r}: {', '.join(found[:FIRST_RESULTS]) or 'nothing'}", file=sys.stderr)
        if not any(re.search(expected, link) for link in found[:FIRST_RESULTS]):
            wrong.append(f"{words!r} finds {found[:FIRST_RESULTS]}, expected {expected!r}")
    return wrong


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--browser", help="the program; Chromium or Chrome on the path by default")
    parser.add_argument("--site", type=Path, default=SITE, help="the folder of the site")
    parser.add_argument("--pages", nargs="+", default=["**/*.html"], help="which pages")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each page")
    args = parser.parse_args()
    program = args.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("there is no Chromium or Chrome on the path: install one, or give --browser.")
    site = args.site.resolve()
    files = {path for pattern in args.pages for path in site.glob(pattern)}
    pages = sorted(p.relative_to(site).as_posix() for p in files if "_static" not in p.parts)
    if not pages:
        sys.exit(f"{site} has no such pages: run python docs/site first.")
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with served(site) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        wrong = check(browser, base, site, pages, args.pictures)
        browser.close()
    print(f"{len(pages)} pages, {wrong} problems")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
