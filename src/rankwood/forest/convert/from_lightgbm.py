"""LightGBM's text as a forest."""

from rankwood.engines.lightgbm.text_trees import trees_of_text
from rankwood.forest.record import Forest


def to_forest(text: str, names: tuple[str, ...] | None, engine: str = "lightgbm") -> Forest:
    """Return the trees of a model's text, which this engine has grown."""
    trees = trees_of_text(text)
    return Forest(
        engine=engine,
        **trees.arrays,
        base=0.0,
        float32_input=False,
        float32_sum=False,
        n_features=trees.n_features,
        feature_names=names,
    )
