"""Forest: the trees of a model as flat arrays, whichever engine has grown them."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood.data.tables.schema import numbered_names
from rankwood.engines.model_trees import walking
from rankwood.engines.model_trees.arrays import ARRAYS, TreeArrays, min_category
from rankwood.forest.array_checks import array_of, check_arrays
from rankwood.forest.documents import documents_for
from rankwood.forest.forest_file import read_forest, write_forest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees as flat arrays; exports, explanations, pictures and the scorer start from it.

    Nodes and leaves of all trees are numbered through, tree by tree. A node sends a document left if ``x <= threshold``
    (numerical) or if `x`, without its decimals, is one of the node's categories (categorical); missing values go where
    `missing_left` says. The arrays can't be changed: they are checked once, when the forest is made.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost", "catboost"}
        The program that grew the trees.
    feature : array of int32, by node
        Column that the node looks at.
    threshold : array of float64, by node
        Largest value that goes left; it may be infinite.
    missing_left : array of bool, by node
        Whether NaN goes left.
    left, right : array of int32, by node
        Child: the number of a node, or ``~number`` of a leaf, which is negative. A child comes after its parent.
    leaf_value : array of float64, by leaf
        Value; the learning rate and weights of trees (DART, Langevin) are in it.
    first_node, first_leaf : array of int64, by tree, and one more
        Tree t has the nodes from ``first_node[t]`` (its root) to ``first_node[t + 1]``, and leaves likewise. A tree of
        one leaf has no node.
    cover : array of float64, by node
        Weight of the training documents that reached the node: numbers of documents (LightGBM), sums of Hessians
        (XGBoost) or weights (CatBoost), as the engine's own SHAP values use them.
    leaf_cover : array of float64, by leaf
        The same of leaves.
    gain : array of float64, by node
        Gain of the split; 0 where the engine keeps none.
    category_first : array of int64, by node, and one more
        Node i has the categories from ``category_first[i]`` to ``category_first[i + 1]`` of `category`.
    category : array of int64
        Categories that go left, rising within a node.
    categorical : array of bool, by node
        Whether the split is on categories.
    base : float
        What the sum begins with.
    float32_input : bool
        Whether x is rounded to float32 before it is compared (XGBoost, CatBoost).
    float32_sum : bool
        Whether leaves are added in float32 (XGBoost).
    n_features : int
        Number of columns.
    feature_names : tuple of str or None
        Their names, if they have any.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> forest = ranker.forest()
    >>> forest
    <Forest of 3 trees by lightgbm: 90 nodes, 93 leaves, 20 features>
    >>> test = rw.load_demo("test")
    >>> bool((forest.predict(test) == ranker.predict(test)).all())
    True
    """

    engine: str
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray
    first_node: np.ndarray
    first_leaf: np.ndarray
    cover: np.ndarray
    leaf_cover: np.ndarray
    gain: np.ndarray
    category_first: np.ndarray
    category: np.ndarray
    categorical: np.ndarray
    base: float
    float32_input: bool
    float32_sum: bool
    n_features: int
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, kind in ARRAYS.items():
            object.__setattr__(self, name, array_of(getattr(self, name), kind, name))
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(self.feature_names))
        check_arrays(self)

    def __reduce__(self) -> Any:
        # A copy is made as any forest is, so that its arrays are checked and can't be changed either.
        return Forest, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        trees = f"{self.n_trees} tree" + "s" * (self.n_trees != 1)
        size = (
            f"{self.feature.size} nodes, {self.leaf_value.size} leaves, {self.n_features} features"
        )
        return f"<Forest of {trees} by {self.engine}: {size}>"

    def __len__(self) -> int:
        return self.n_trees

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.first_node.size - 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: `feature_names`, or ``"f1"``, ``"f2"`` and so on."""
        return self.feature_names or tuple(numbered_names(self.n_features))

    @property
    def min_category(self) -> float:
        """Values above it are read as categories, without their decimals: as the engine reads them."""
        return min_category(self.engine)

    @property
    def arrays(self) -> TreeArrays:
        """What is needed to walk down the trees, as one record."""
        return TreeArrays._make(getattr(self, name) for name in TreeArrays._fields)

    def leaf(self, X: Any) -> np.ndarray:
        """Return the leaf that each document reaches in each tree.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents. Columns of a table are matched by name if the features have names.

        Returns
        -------
        array of int32, documents by trees
            Number of the leaf within its tree, from 0: LightGBM's and CatBoost's own numbers; for XGBoost, the
            leaves of a tree counted in the order of its node numbers.

        Examples
        --------
        >>> import rankwood as rw
        >>> forest = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).forest()
        >>> forest.leaf(rw.load_demo("test")).shape
        (847, 3)
        """
        return walking.leaves(self.arrays, documents_for(self, X))

    def predict(self, X: Any) -> np.ndarray:
        """Score documents as the engine does, bit for bit; `docs/scoring.md` names the one exception.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents, as in `leaf`.

        Returns
        -------
        array of float64
            One score per row.

        Examples
        --------
        >>> import rankwood as rw
        >>> forest = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).forest()
        >>> forest.predict(rw.load_demo("test")).shape
        (847,)
        """
        real = np.float32 if self.float32_sum else np.float64
        return walking.scores(self.arrays, documents_for(self, X), self.base, real)

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with a row for each node and each leaf.

        Returns
        -------
        pandas.DataFrame
            Columns: tree, node (its number within the tree; leaves have a number of their own), leaf (whether it is
            one), feature (its name), threshold, categories, missing_left, left, right (children: numbers of
            nodes, or of leaves as ``~number``), value (of a leaf), gain, cover.

        Examples
        --------
        >>> import rankwood as rw
        >>> forest = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).forest()
        >>> len(forest.to_frame())
        183
        """
        from rankwood.forest.node_table import frame_of  # pandas takes a while to import

        return frame_of(self)

    def plot_tree(self, tree: int = 0, *, depth: int | None = 4, ax: Any = None) -> "Axes":
        """Draw a tree.

        Parameters
        ----------
        tree : int
            Its number, from 0.
        depth : int or None
            The number of levels to draw; None means all.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            With the tree on it.

        Raises
        ------
        InputError
            If there is no such tree.

        Examples
        --------
        >>> import rankwood as rw
        >>> forest = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).forest()
        >>> forest.plot_tree(2, depth=3).get_title()
        'tree 2 of 3'
        """
        from rankwood.forest.tree_picture import draw_tree

        return draw_tree(self, tree, depth, ax)

    def save(self, path: str | Path) -> None:
        """Write the forest to a file, as JSON; `docs/scoring.md` describes it.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced once the new one is complete.

        Raises
        ------
        InputError
            If the file can't be written.

        Examples
        --------
        >>> import rankwood as rw, tempfile
        >>> from pathlib import Path
        >>> forest = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train")).forest()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     forest.save(Path(folder) / "forest.json")
        ...     rw.Forest.load(Path(folder) / "forest.json")
        <Forest of 3 trees by lightgbm: 90 nodes, 93 leaves, 20 features>
        """
        write_forest(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Forest":
        """Read a forest from a file that `save` wrote, or from a model file of a `Ranker`.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Forest
            The same trees; their scores are bit-identical.

        Raises
        ------
        InputError
            If the file can't be read, is damaged, or holds a model without such trees.

        Examples
        --------
        >>> import rankwood as rw, tempfile
        >>> from pathlib import Path
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ranker.save(Path(folder) / "model.json")
        ...     rw.Forest.load(Path(folder) / "model.json").n_trees
        3
        """
        return read_forest(cls, path)
