"""The kernel of objectives that look at a whole list at once, without pairs: one call of `list_gradient` a query."""

from typing import Annotated, Any

from rankwood._kernels.compile.jit import jit, uncounted_inline
from rankwood._kernels.numeric.rng import mix
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can, part
from rankwood._kernels.records import documents, lend
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.pairwise import one_query
from rankwood.objectives._kernels.records import Derivatives, ListQuery
from rankwood.objectives._kernels.scratch import ListScratch, Memory
from rankwood.objectives._kernels.sums import FullDerivatives, lift
from rankwood.objectives._kernels.verbs import cross_hessian, list_gradient, origin


@verb(kind="uncounted inline")
def write_list(step, objective, query, listed, scratch, out):
    """Write the derivatives of a query, by slot, to where the caller wants them."""


@part
class ToDocuments:
    """Write to the rows of the documents."""

    def allocate_totals(self, memory: Memory) -> Any:
        """Return derivatives by slot."""
        return memory.record(Derivatives)

    def write_list(self, objective, query, listed, scratch, out):
        for i in range(query.n):
            row = query.rows[query.start + i]
            out.grad[row], out.hess[row] = scratch.totals.gradient[i], scratch.totals.hessian[i]
        return 0


@part
class ToPairs:
    """Lift to ordered pairs of documents."""

    def allocate_totals(self, memory: Memory) -> Any:
        """Return derivatives by slot and by pair of slots."""
        return FullDerivatives(**memory.columns(("gradient", "hessian")), matrix=memory.matrix())

    def write_list(self, objective, query, listed, scratch, out):
        for i in range(query.n):
            for j in range(query.n):
                scratch.totals.matrix[i, j] = 0.0
        cross_hessian(objective, listed, scratch.own, scratch.totals.matrix)
        return lift(query.n, scratch.totals, out, out.start[query.number])


@part
class ListSteps:
    """How the kernel computes an objective without pairs."""

    sums: Annotated[Any, Can("write_list")] = ToDocuments()


@jit
def listwise_kernel(task, scratch, state, scores, out, first, last):
    """Write gradients and Hessians of queries `first` to `last`: the same signature as `pairwise_kernel`."""
    objective, steps, plan = task.objective, task.steps, lend(task.plan)
    scratch, scores, out = lend(scratch), lend(scores), lend(out)
    for q in range(first, last):
        query = one_query(plan, q)
        listed = by_slot(objective, query, scores, scratch)
        gradient = documents(scratch.totals.gradient, 0, query.n)
        hessian = documents(scratch.totals.hessian, 0, query.n)
        derivatives = Derivatives(gradient, hessian)
        list_gradient(objective, listed, mix(state, q), scratch.own, derivatives)
        write_list(steps.sums, objective, query, listed, scratch, out)


@uncounted_inline
def by_slot(objective, query, scores, scratch):
    """Return labels and scores of a query by slot, and set its derivatives to 0.

    Scores are relative to the middle of their range, unless the objective has another `origin`.
    """
    n, start = query.n, query.start
    low = high = scores[query.rows[start]]
    for i in range(n):
        s = scores[query.rows[start + i]]
        low, high = (s if s < low else low), (s if s > high else high)
    zero_score = origin(objective, 0.5 * low + 0.5 * high)
    zero = as_type_of(query.discount[0], 0.0)
    for i in range(n):
        scratch.label[i] = query.label[start + i]
        scratch.score[i] = scores[query.rows[start + i]] - zero_score
        scratch.totals.gradient[i] = scratch.totals.hessian[i] = zero
    label, score = documents(scratch.label, 0, n), documents(scratch.score, 0, n)
    return ListQuery(label, score, query.values, query.discount)


def listwise_scratch(objective: Any, steps: ListSteps, memory: Memory) -> ListScratch:
    """Return one thread's memory for these steps."""
    both = memory.columns(("label", "score"))
    totals = steps.sums.allocate_totals(memory)
    return ListScratch(**both, own=memory.room(objective), totals=totals)
