"""What a training run is given besides the data, by who trains many models on the same data."""

from collections.abc import Callable
from typing import NamedTuple

from rankwood._core.shared import Shared
from rankwood.metrics.evaluate import Evaluator

#: Called after each round with its number (from 1) and the value of the first metric; True ends training.
Watch = Callable[[int, float], bool]


class FitContext(NamedTuple):
    """What runs on the same data share, and who watches them; `Ranker.fit` alone needs none of it.

    Attributes
    ----------
    shared : Shared or None
        Binned features, orders of documents and plans of labels of earlier runs.
    evaluator : Evaluator or None
        Evaluates the validation data; None means the metrics of the ranker by the default rules.
    watch : callable or None
        Follows the validation metric, and may end training.
    """

    shared: Shared | None = None
    evaluator: Evaluator | None = None
    watch: Watch | None = None
