"""Make a report page: score the models, compute findings, render them."""

import os
from collections.abc import Sequence
from typing import Any

from rankwood._util.atomic import replacing
from rankwood.data.ranking_data import RankingData
from rankwood.render import theme
from rankwood.report.page import sections
from rankwood.report.page.findings import findings_of
from rankwood.report.page.scored import ScoredModel, score_models


class Page:
    """A report page: the result of `make_page`.

    Attributes
    ----------
    html : str
        The whole page, which needs no other file and no network.
    title : str
        Its heading.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report.page import make_page
    >>> test = rw.make_ranking(20)
    >>> page = make_page({"feature 1": test.X[:, 0]}, test, metrics=["ndcg@10"], n_jobs=1)
    >>> page.title
    'feature 1'
    """

    def __init__(self, html: str, title: str) -> None:
        self.html, self.title = html, title

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an existing one is replaced once the new one is complete.

        Parameters
        ----------
        path : path
            The file, such as "report.html".

        Raises
        ------
        InputError
            If `path` is a directory or a device.
        """
        with replacing(path) as file:
            file.write(self.html.encode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self.html) / 1e6:.1f} MB)"


def make_page(
    models: Any,
    test: Any = None,
    *,
    train: RankingData | None = None,
    metrics: str | Sequence[str] | None = None,
    baseline: str | None = None,
    title: str | None = None,
    ties: str | None = None,
    empty: Any = None,
    convention: str | None = None,
    n_jobs: int | None = None,
) -> Page:
    """Make one HTML page about one model or several.

    The page has means with intervals and tests, learning curves, models against each other query by query, the best
    and the worst queries with their documents, where the metric is won and lost, feature importance, what the
    objective did, and all parameters and versions. Sections without information are omitted: scores have no
    parameters, and an `Evaluation` has no documents.

    Parameters
    ----------
    models : dict, list, or one model
        Models by name: fitted rankers (`Ranker`, `TwoStage`, or anything with `predict`), arrays of scores in the
        order of `test`, runs (with judgments), or evaluations. A single model is compared with a random order.
    test : RankingData or Qrels, optional
        The data to evaluate on; it may be omitted if all models are evaluations.
    train : RankingData, optional
        The training data: the page then has the means on it, and shows what the objectives did on it.
    metrics : str or list of str, optional
        NDCG@10, MAP and MRR by default, or the metrics of the first model if that is an evaluation. Queries are
        shown by the first one.
    baseline : str, optional
        The model that the others are compared with; the first by default.
    title : str, optional
        The heading of the page; the names of the models by default.
    ties, empty, convention : str, optional
        Rules of the metrics, as in `rankwood.evaluate`; evaluations have their own.
    n_jobs : int, optional
        Number of threads; None means every core.

    Returns
    -------
    Page
        The page, to be written with ``page.save("report.html")``.

    Raises
    ------
    InputError
        If models can't be compared, or if Jinja2 or matplotlib is not installed.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report.page import make_page
    >>> test = rw.make_ranking(20)
    >>> models = {"old": test.X[:, 0], "new": test.X[:, 0] + test.X[:, 1]}
    >>> page = make_page(models, test, metrics=["ndcg@10", "p@5"], n_jobs=1)
    >>> page.save("report.html")
    """
    theme.check_installed()
    names = [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics)
    rules = {"ties": ties, "empty": empty, "convention": convention, "n_jobs": n_jobs}
    scored = score_models(models, test, train, names, rules)
    return page_of(scored, test, names, baseline, title, rules)


def page_of(
    models: Sequence[ScoredModel],
    test: Any,
    metrics: Sequence[str] | None,
    baseline: str | None,
    title: str | None,
    rules: dict[str, Any],
) -> Page:
    """Make a page about models that are scored already."""
    found = findings_of(models, test, metrics, baseline, rules)
    title = title or " and ".join(m.name for m in models[:3]) + (
        f" and {len(models) - 3} more" if len(models) > 3 else ""
    )
    return Page(sections.render(found, title), title)
