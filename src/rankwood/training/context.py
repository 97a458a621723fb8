"""What training runs on the same data share: the context that a search over parameters gives to each run."""

from collections.abc import Callable
from typing import NamedTuple

from rankwood._core.shared import Shared
from rankwood.metrics.evaluate import Evaluator

#: Called after each round with its number (from 1) and the value of the first metric; True ends training.
Watch = Callable[[int, float], bool]


class FitContext(NamedTuple):
    """What runs on the same data share, and a function that watches a run; `Ranker.fit` needs none of it.

    Attributes
    ----------
    shared : Shared or None
        Binned features, orders of documents and values of labels from earlier runs.
    evaluator : Evaluator or None
        Evaluates the validation data; None means the metrics of the ranker by the default rules.
    watch : callable or None
        Called after each round with its number and the first validation metric; may end training.
    """

    shared: Shared | None = None
    evaluator: Evaluator | None = None
    watch: Watch | None = None
