"""What a fitted estimator offers beside scores: the engine's own object, a summary, ranked documents."""

from importlib import import_module  # of rooms that are built on this one
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.frames import column, is_frame
from rankwood.data.groups import group_rows
from rankwood.data.ranked_documents import RankedDocuments, ranked_documents
from rankwood.data.ranking_data import RankingData
from rankwood.training.origin import origin_of
from rankwood.training.summary import Summary, short_summary, summary_of
from rankwood.training.trained_forest import hand_out, scorer_of, trained_forest

if TYPE_CHECKING:
    from pathlib import Path

    from rankwood.export import ExportReport
    from rankwood.forest import Forest
    from rankwood.training.estimator import QueryIds, Sizes
    from rankwood.training.scoring import Scorer


class AfterTraining:
    """Methods of fitted estimators."""

    @property
    def booster_(self) -> Any:
        """The engine's own object, which predicts: a ``lightgbm.Booster``, ``xgboost.Booster`` or ``CatBoost``.

        The engine "pairtree" has a forest of its own, of trees on pairs. It is the object itself and no copy: whoever
        changes it changes what `predict` returns. `forest`, `export` and `explain` read the model as it was trained.
        """
        return _own_object(self, "booster")

    @property
    def module_(self) -> Any:
        """The PyTorch module of a network, on the CPU and in evaluation mode; its inputs are transformed features."""
        return _own_object(self, "module")

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
        return summary_of(self, checks.at_least(top, 0, "top"))

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
        >>> explanation.pair(17, 4).title
        'why row 17 is above row 4, query 161'
        """
        check_is_fitted(self)
        return import_module("rankwood.explanation").explain(self, X, qid, group=group)

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
        made = import_module("rankwood.report.card")
        return made.card_of(self._files.content_of(self), self._kind)  # type: ignore[attr-defined]

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
        if isinstance(X, RankingData):
            found = None if X.comments is None else X.comments.doc_ids
            return ranked_documents(scores, X.groups, found if found and any(found) else None, top)
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
        return trained_forest(self)

    def scorer(self, *, stop: Any = None) -> "Scorer":
        """Return a function that scores documents many times faster than the engine, with the same bits.

        Parameters
        ----------
        stop : int or EarlyExit, optional
            Early exit: documents that can't reach the first `stop` of their query any more are dropped before all
            trees are evaluated. Nothing among the first `stop` changes; an `EarlyExit` with a margin below 1 drops more
            documents, at a loss that docs/scoring.md measures.

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
        return scorer_of(self, stop)

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
            Names of the features in the other program: by the model's own names, which may leave out features that
            no split reads, or one for each feature. Features without names are ``"f0"``, ``"f1"`` and so on.
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
        from rankwood.export.exporting import ExportOptions  # most sessions don't need it
        from rankwood.training.trained_export import trained_export

        options = ExportOptions(
            names, check, name, missing, positive, queries, approximate, overwrite
        )
        return trained_export(self, path, format, options)

    def _set_data(self, train: RankingData) -> None:
        """Set what is known of the training data: its features, its size and its digest."""
        self._set_features(train.n_features, train.feature_names, train.categories)  # type: ignore[attr-defined]
        self.data_size_ = {"queries": int(train.groups.ids.size), "documents": len(train)}
        self.origin_ = origin_of(self, train)

    def __str__(self) -> str:
        known = short_summary(self)
        return f"{self!r}\n{known}" if known else repr(self)


def _own_object(estimator: Any, name: str) -> Any:
    """Return an attribute of the model; without it an AttributeError, as `hasattr` needs it, says what there is."""
    if hasattr(estimator, "second_"):
        raise AttributeError(
            f"TwoStage has several models: read first_[0].{name}_ and second_.{name}_."
        )
    check_is_fitted(estimator, "model_")
    if not hasattr(type(estimator.model_), name):
        other = "module" if name == "booster" else "booster"
        raise AttributeError(f"{type(estimator).__name__} has no {name}_: read {other}_.")
    if name == "booster":
        hand_out(estimator.model_)
    return getattr(estimator.model_, name)
