"""Metrics of scores on a GPU: documents are ranked and measured there, and one number per query comes back."""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel, explaining
from rankwood._kernels.cuda.sorting import rank_words
from rankwood._kernels.cuda.team import barrier, block, set_alone, team_size, thread
from rankwood._kernels.device import as_vector, load_cuda, stream_of
from rankwood._kernels.each import each
from rankwood._kernels.numeric.scalars import descending_bits
from rankwood._kernels.parts import lower
from rankwood._kernels.records import documents
from rankwood._util import checks
from rankwood.metrics.evaluate import Evaluator
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.kernels import fill_values
from rankwood.metrics.ranked import Ranked, discounts
from rankwood.metrics.verbs import label_values, value

_TEAM = 64
#: Documents query by query, ties in the order in which they are ranked: where each query starts, and the row of each
#: document. By rank: slot and score. Words to sort by.
DeviceRanking = namedtuple("DeviceRanking", "ptr rows slot key word")
#: What a metric makes of labels, by slot, and the discounts by rank.
DeviceValues = namedtuple("DeviceValues", "values discount")


def rank_device_kernel(lists, unused, scores):
    """Rank documents; each team ranks one query. All kernels take an integer, `unused` here."""
    if thread() == 0:
        set_alone(0)
    barrier()
    start, end = np.int64(lists.ptr[block()]), np.int64(lists.ptr[block() + 1])
    word, slot = documents(lists.word, start, end), documents(lists.slot, start, end)
    for i in each(end - start):
        word[i] = descending_bits(scores[lists.rows[start + i]])
    rank_words(word, slot)
    for i in each(end - start):
        lists.key[start + i] = scores[lists.rows[start + slot[i]]]


def measure_device_kernel(metric, lists, by_label, n_queries, out):
    """Compute a metric; each thread measures one query."""
    q = block() * team_size() + thread()
    if q < n_queries:
        start, end = np.int64(lists.ptr[q]), np.int64(lists.ptr[q + 1])
        own, slot = documents(by_label.values, start, end), documents(lists.slot, start, end)
        ranked = Ranked(end - start, own, documents(lists.key, start, end), slot, by_label.discount)
        out[q] = value(metric, ranked, own)


class DeviceEvaluator(Evaluator):
    """`Evaluator` for scores on a GPU; labels and their values stay there.

    Parameters
    ----------
    metrics, y, groups, ties, empty
        As in `Evaluator`; ties can't be averaged.
    unlisted
        Must be None: all documents are ranked.
    """

    def __init__(
        self,
        metrics: dict[str, Any],
        y: np.ndarray,
        groups: Any,
        ties: str = "worst",
        empty: Any = 0,
        *,
        unlisted: Any = None,
    ) -> None:
        if ties == "average":
            raise checks.InputError(
                "the mean over all orders of ties isn't computed on a GPU: use another rule for ties, or NumPy arrays."
            )
        if unlisted is not None:
            raise checks.InputError(
                "data with unlisted documents isn't evaluated on a GPU: give the scores as a NumPy array."
            )
        super().__init__(metrics, y, groups, ties, empty)
        self._cuda = load_cuda()
        # Documents of a query in the order in which they are ranked if they tie: then the slot breaks all ties.
        sign = {"worst": 1.0, "best": -1.0, "input": 0.0}[ties]
        query = np.repeat(np.arange(groups.sizes.size), groups.sizes)
        order = np.lexsort((np.arange(y.size), sign * self._label, query))
        label, to = self._label[order], self._cuda.to_device
        self._ptr = to(groups.ptr.astype(np.int32))
        self._rows = to(groups.rows[order].astype(np.int32))
        self._device_discount = to(self._discount)
        made = {name: _values(part, label, groups.ptr) for name, part in metrics.items()}
        self._values = {name: to(column) for name, column in made.items()}
        # By metric, whether a query has no relevant document.
        none = [np.logical_and.reduceat(c <= 0.0, groups.ptr[:-1]) for c in made.values()]
        self._none_relevant = np.array(none)

    def __call__(self, scores: Any) -> Evaluation:
        """Return the value of each metric for each query."""
        found, stream = as_vector(scores, "scores", self._label.size), stream_of(scores)
        n, n_queries = found.size, self._groups.ids.size
        words = np.uint32 if found.dtype == np.float32 else np.uint64
        lists = DeviceRanking(
            self._ptr,
            self._rows,
            *(self._cuda.scratch(n, dtype) for dtype in (np.int32, found.dtype, words)),
        )
        kernel = self._cuda.Kernel(rank_device_kernel, (lists,), (found.dtype,))
        kernel.start((n_queries, _TEAM, 0), stream, 0, (found,))
        out = np.empty((len(self.metrics), n_queries))
        for i, (name, part) in enumerate(self.metrics.items()):
            result = self._cuda.empty(n_queries, np.float64)
            fixed = (lower(part), lists, DeviceValues(self._values[name], self._device_discount))
            with explaining(part):
                kernel = self._cuda.Kernel(measure_device_kernel, fixed, (np.float64,))
            teams = (-(-n_queries // _TEAM), _TEAM, 0)
            kernel.start(teams, stream, n_queries, (self._cuda.device_vector(result),))
            out[i] = self._cuda.to_host(result, stream)
        return self._evaluation(out, self._none_relevant)


def _values(part: Any, label: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return the `label_values` of a metric."""
    if not label_values.verb.able(part):
        raise checks.InputError(f"{part!r} can't be measured on a GPU: it has no values by label.")
    out, lowered = np.empty(label.size), lower(part)
    discount = discounts(int(np.diff(ptr).max(initial=0)))
    fill = callable_kernel(fill_values)

    def run(first: int, last: int) -> None:
        fill(lowered, label, ptr, discount, out, first, last)

    threads.run_ranges(run, np.diff(ptr), None)
    return out
