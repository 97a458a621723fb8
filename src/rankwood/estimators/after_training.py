"""What a fitted estimator offers beside scores: the engine's own object, a summary, ranked documents."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from rankwood._util import checks
from rankwood.data.groups import group_rows
from rankwood.data.ranked_documents import RankedDocuments, ranked_documents
from rankwood.data.source import Source
from rankwood.data.tables.frames import column, is_frame
from rankwood.fit.result import FitResult, Result
from rankwood.fit.summary import Summary, short_summary, summary_of

if TYPE_CHECKING:
    from pathlib import Path

    from rankwood.estimators.base import QueryIds, Sizes
    from rankwood.estimators.scoring import Scorer
    from rankwood.export import ExportReport
    from rankwood.forest import Forest


class AfterTraining:
    """Methods of fitted estimators."""

    if TYPE_CHECKING:
        #: The result of the last fit.
        result_: Any

    def _own_object(self, name: str) -> Any:
        """Return an attribute of the model; without it an AttributeError, as `hasattr` needs it, says what there is."""
        raise AttributeError(f"{type(self).__name__} has no {name}_.")

    def _trees(self, what: str) -> FitResult:
        """Return the result of a model of trees, or raise: others have no forest, scorer, export, explanation."""
        raise checks.InputError(f"{type(self).__name__} has no trees, so it has no {what}.")

    @property
    def booster_(self) -> Any:
        """A copy of the engine's own object: a ``lightgbm.Booster``, an ``xgboost.Booster`` or a ``CatBoost``.

        The engine "pairtree" has a forest of its own, of trees on pairs. Whoever changes the copy changes nothing that
        `predict`, `forest`, `export` or `explain` returns.
        """
        return self._own_object("booster")

    @property
    def module_(self) -> Any:
        """A copy of the PyTorch module of a network, on the CPU and in evaluation mode; its inputs are transformed."""
        return self._own_object("module")

    def summary(self, top: int = 5) -> Summary:
        """Return what was trained, on what, how well and how long.

        Parameters
        ----------
        top : int
            The number of most important features to list.

        Returns
        -------
        Summary
            It prints itself, as text or in a notebook; `to_dict` has the values.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> ranker.summary().to_dict()["trees"]
        3
        """
        check_is_fitted(self)
        return summary_of(self.result_, type(self).__name__, checks.at_least(top, 0, "top"))

    def explain(self, X: Any, qid: "QueryIds" = None, *, group: "Sizes" = None) -> Any:
        """Tell why documents are where they are: split their scores by feature, as exact SHAP values.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents, as in `predict`.
        qid : array or str, optional
            Query id of each row, or the column that has them. Without queries all rows are one list.
        group : array, optional
            Sizes of consecutive queries, in place of `qid`.

        Returns
        -------
        rankwood.explanation.Explanation
            Contributions by document and feature; `centred` within the query, of a `pair`, as tables and pictures.

        Raises
        ------
        InputError
            If the model isn't one of trees on documents: networks, models of pairs, and TwoStage, whose stages can be
            explained one by one.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> explanation = ranker.explain(rw.load_demo("test"))
        >>> explanation.pair(4, 17).title
        'why row 4 is above row 17, query 161'
        """
        from rankwood.estimators.trees import explained  # most sessions don't need it

        check_is_fitted(self)
        return explained(self._trees("explanation"), X, qid, group, getattr(self, "n_jobs", None))

    def card(self) -> Any:
        """Return a model card: what is known of the model and its training, on one page of Markdown.

        Returns
        -------
        ModelCard
            It prints as Markdown; `to_markdown(path)` writes a file, and `to_dict` has the values.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> print(ranker.card().to_markdown().splitlines()[0])
        # Model card: `lambdarank-ndcg@10`
        """
        check_is_fitted(self)
        from rankwood.report.card import card_of  # most sessions don't need it

        return card_of(self._content(), self._kind)  # type: ignore[attr-defined]

    def rank(
        self, X: Any, qid: "QueryIds" = None, top: int | None = None, *, group: "Sizes" = None
    ) -> RankedDocuments:
        """Rank documents: those of each query from the highest score to the lowest.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents in any order, as in `predict`.
        qid : array or str, optional
            Query id of each row, or the column that has them. Without queries all rows are one list.
        top : int, optional
            The number of documents of each query to return; all by default.
        group : array, optional
            Sizes of consecutive queries, in place of `qid`.

        Returns
        -------
        RankedDocuments
            A row per document, with its query, rank, row and score, and its id if the comments of `X` have one. Equal
            scores are in the caller's order.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> ranker.rank(rw.load_demo("test"), top=3).rows["rank"][:6].tolist()
        [1, 2, 3, 1, 2, 3]
        """
        if top is not None:
            checks.at_least(top, 1, "top")
        scores = self.predict(X, qid=qid, group=group)  # type: ignore[attr-defined]
        if isinstance(X, Source):
            comments = getattr(X, "comments", None)
            ids = None if comments is None else comments.doc_ids
            return ranked_documents(scores, X.groups, ids if ids and any(ids) else None, top)
        ids = column(X, qid) if isinstance(qid, str) and is_frame(X) else qid
        return ranked_documents(scores, group_rows(scores.size, ids, group), None, top)

    def forest(self) -> "Forest":
        """Return the trees as flat arrays, the same for every engine.

        Returns
        -------
        Forest
            Trees that can be looked at, drawn, saved and walked through; docs/scoring.md explains them.

        Raises
        ------
        InputError
            If the model has no such trees: networks, models of pairs, linear leaves, CatBoost's categories.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> len(ranker.forest())
        3
        """
        from rankwood.forest import forest_of  # most sessions don't need it

        check_is_fitted(self)
        result = self._trees("forest")
        return forest_of(result.model, result.schema.names)

    def scorer(self) -> "Scorer":
        """Return a function that scores documents many times faster than the engine, bit-identically.

        Returns
        -------
        Scorer
            Call it with what `predict` takes.

        Raises
        ------
        InputError
            If the model has no trees on documents.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> score = ranker.scorer()
        >>> score(rw.load_demo("test")).shape
        (847,)
        """
        from rankwood.estimators.scoring import Scorer  # most sessions don't need it

        check_is_fitted(self)
        result = self._trees("scorer")
        if result.model.needs_groups:
            raise checks.InputError(
                "a model of pairs (bi-...) scores documents by comparing them, so it has no scorer: call predict."
            )
        return Scorer(result, getattr(self, "n_jobs", None))

    def export(
        self,
        path: "str | Path",
        format: str,
        *,
        names: Any = None,
        check: Any = None,
        name: str | None = None,
        missing: str = "model",
        positive: bool | None = None,
        queries: "dict[str, Any] | None" = None,
        approximate: bool = False,
        overwrite: bool = False,
    ) -> "ExportReport":
        """Write the model for another program, so that no document changes its leaf; docs/export.md explains it.

        Parameters
        ----------
        path : str or Path
            The file to write.
        format : str
            ``"elasticsearch"``, ``"ltr-plugin"`` (of Elasticsearch and OpenSearch), ``"solr"``, ``"vespa"``,
            ``"ranklib"``, ``"onnx"``, ``"c"`` or ``"json"``. Models of pairs (``bi-...``) can be JSON.
        names : dict or list of str, optional
            Names of the features in the other program: by the model's own names, which may omit features that
            no split reads, or one for each feature. Features without names are ``"f1"``, ``"f2"`` and so on.
        check : RankingData, matrix or table, optional
            Rows to score by the other program's rules, from the file; the report has the differences.
        name : str, optional
            Name of the model in the other program; default: that of the file.
        missing : {"model", "zero"}
            Where missing values go: where the model sends them, or where it sends 0.
        positive : bool, optional
            Add a constant to all scores so that none is negative; default: for ``"ltr-plugin"``.
        queries : dict, optional
            Elasticsearch's query of each feature, by the feature's name there.
        approximate : bool
            Write thresholds that Solr can't meet, too.
        overwrite : bool
            Replace a file that exists.

        Returns
        -------
        ExportReport
            What was written, what is exact, and how to upload it. It prints itself.

        Raises
        ------
        InputError
            If the other program can't hold the model, or reads it so that a ranking would change. Nothing is
            written then.

        Examples
        --------
        >>> import rankwood as rw, tempfile
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report = ranker.export(f"{folder}/m.json", "solr", check=rw.load_demo("test"))
        >>> report.check.other_leaf
        0
        """
        from rankwood.estimators.trees import exported  # most sessions don't need it
        from rankwood.forest.export.exporting import ExportOptions, check_request

        check_is_fitted(self)
        options = ExportOptions(
            names, check, name, missing, positive, queries, approximate, overwrite
        )
        check_request(path, format, options)
        return exported(self._trees("export"), self.predict, path, format, options)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        result: Result | None = getattr(self, "result_", None)
        return repr(self) if result is None else f"{self!r}\n{short_summary(result)}"
