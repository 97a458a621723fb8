"""From an engine's model to a forest."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.forest.record import Forest


def forest_of(model: Any, feature_names: Sequence[str] | None = None) -> Forest:
    """Return the trees of an engine's model.

    Parameters
    ----------
    model : model of an engine
        `Ranker.model_`.
    feature_names : sequence of str, optional
        Names of the features.

    Returns
    -------
    Forest
        Its trees.

    Raises
    ------
    InputError
        If a forest can't hold the model: one of pairs, a network, linear leaves, zeros as missing values, or
        categorical features on CatBoost.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.forest import forest_of
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> forest_of(ranker.model_).n_trees
    3
    """
    names = None if feature_names is None else tuple(feature_names)
    kind = type(model).__name__
    if getattr(model, "needs_groups", False):
        raise checks.InputError(
            "a model of pairs (bi-...) or of whole lists scores documents by comparing them, so it is no forest of "
            "trees on documents."
        )
    if kind in ("LightGBMModel", "TreesModel"):
        from rankwood.forest.convert import from_lightgbm

        engine = "lightgbm" if kind == "LightGBMModel" else "rankwood"
        return from_lightgbm.to_forest(model.text, names, engine)
    if kind == "XGBoostModel":
        from rankwood.forest.convert import from_xgboost

        return from_xgboost.to_forest(model.text, names)
    if kind == "CatBoostModel":
        from rankwood.forest.convert import from_catboost

        return from_catboost.to_forest(model, names)
    raise checks.InputError(f"a {kind} has no trees, so it is no forest.")


def has_engine_bits(model: Any, forest: Forest) -> bool:
    """Tell whether sums of a forest's leaves have the bits of the engine's own scores.

    They have not where the engine multiplies or shifts the sum afterwards: CatBoost's scale, and XGBoost's DART with a
    base score.
    """
    if forest.engine == "catboost":
        scale, bias = model.loaded()[0].get_scale_and_bias()
        return bool(scale == 1.0 and np.all(np.asarray(bias) == 0.0))
    return forest.base == 0.0 or '"weight_drop"' not in model.text
