"""Sphinx's settings; `python docs/site` runs it on the pages that stage.py has copied."""

import os
import re
import sys
from importlib.metadata import version as installed
from inspect import Signature
from pathlib import Path
from typing import Any, is_typeddict

sys.path.insert(0, str(Path(__file__).parent))
from names import entries

project = "Rankwood"
author = "The Rankwood authors"
copyright = author
release = version = installed("rankwood")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_sitemap",
    "sphinxcontrib.bibtex",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
bibtex_bibfiles = ["../references.bib"]  # from this folder
bibtex_default_style = "plain"
default_role = "py:obj"  # `name` in a docstring is a link if the reference has the name
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

templates_path = [
    str(Path(__file__).parent / "templates")
]  # autosummary would look beside the pages

html_theme = "pydata_sphinx_theme"
html_title = "Rankwood"
html_favicon = "static/favicon.svg"
html_search_scorer = str(Path(__file__).parent / "search-scorer.js")
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_css_files = ["site.css"]
# The sitemap needs the address that the site will have.
html_baseurl = os.environ.get("RANKWOOD_SITE", "http://localhost:8000/")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
sitemap_url_scheme = "{link}"
sitemap_show_lastmod = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_CITED = re.compile(r"(?<![\w`])\[([a-z]+\d{4}[a-z]?(?:, [a-z]+\d{4}[a-z]?)*)\](?!_)")
_PAGE = re.compile(r"\bdocs/([\w/-]+)\.md\b")
_KEYS = frozenset(
    re.findall(
        r"^@\w+\{(\w+),",
        (Path(__file__).parents[1] / "references.bib").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def _link(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Turn the citations of a docstring, and the pages that it names, into links."""

    def cited(match: re.Match[str]) -> str:
        keys = match[1].split(", ")
        return f":cite:p:`{','.join(keys)}`" if _KEYS.issuperset(keys) else match[0]

    lines[:] = [_PAGE.sub(r":doc:`/\1`", _CITED.sub(cited, line)) for line in lines]


def _hide_signature(
    app: Any, what: str, name: str, found: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Omit the arguments of classes that functions return: users don't make them."""
    doc = (found.__doc__ or "") if what in ("class", "exception") else ""
    result = "Attributes\n" in doc and "Parameters\n" not in doc
    return ("", "") if result else None


def _skip(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Omit the fields of named tuples: the docstring of the class describes them."""
    return True if type(found).__name__ == "_tuplegetter" else None


def _give_signatures() -> None:
    """Give typed dictionaries a signature, which Python doesn't find and Sphinx needs."""
    for entry in entries():
        if is_typeddict(entry.value):
            entry.value.__signature__ = Signature()


def setup(app: Any) -> None:
    """Register what Sphinx calls."""
    _give_signatures()
    app.connect("autodoc-process-signature", _hide_signature)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _link)
