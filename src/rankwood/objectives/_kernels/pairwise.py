"""The kernel of pairwise objectives: five steps for each query, with a named record between any two.

    rank      scores of one query   -> `Ranked`: documents by rank, as far as the parts need
    prepare   `Ranked`              -> the weight's own record, by rank
    arrange   `Ranked`, record      -> `Arranged`: documents in the order of the loop, and the anchors among them
    visit     `Arranged`            -> sums by place
    write     sums                  -> gradients and Hessians, in the caller's rows

How a step is done is a part, chosen once for an objective: see `Steps`. Kernels dispatch on the types of these parts,
so a step that isn't used isn't compiled. `records` explains the coordinates of a document.
"""

from typing import Annotated, Any

from rankwood._kernels.compile.jit import jit, uncounted_inline
from rankwood._kernels.numeric.rng import mix
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can, part
from rankwood._kernels.records import documents, lend
from rankwood.objectives._kernels.arranging import InRankOrder, arrange, places_of
from rankwood.objectives._kernels.ranking import (
    OneRanking,
    RankAll,
    draw_ranking,
    keep_scores,
    number_of_rankings,
    rank,
    ranked_query,
)
from rankwood.objectives._kernels.records import Query
from rankwood.objectives._kernels.rooms import moving_columns
from rankwood.objectives._kernels.scratch import Memory, PairScratch
from rankwood.objectives._kernels.sums import (
    DocumentSums,
    Factors,
    collect,
    start_query,
    write,
)
from rankwood.objectives._kernels.verbs import factors, prepare, scale
from rankwood.objectives._kernels.visiting import FourAtATime, padded_length, visit


@part
class Steps:
    """How the kernel computes an objective."""

    rank: Annotated[Any, Can("rank")] = RankAll()
    draws: Annotated[Any, Can("draw_ranking")] = OneRanking()
    arrange: Annotated[Any, Can("arrange")] = InRankOrder()
    visit: Annotated[Any, Can("visit")] = FourAtATime()
    sums: Annotated[Any, Can("write")] = DocumentSums()


@jit
def pairwise_kernel(task, scratch, state, scores, out, first, last):
    """Write gradients and Hessians of queries `first` to `last`."""
    objective, steps, plan = task.objective, task.steps, lend(task.plan)
    scratch, last_ranking = lend(scratch), lend(task.last_ranking)
    scores, out = lend(scores), lend(out)
    by_push, by_hessian = factors(objective.loss)
    for q in range(first, last):
        query = padded_query(steps.visit, plan, q)
        embed_per_anchor = rank(steps.rank, objective.loss, query, scores, last_ranking, scratch)
        keep_scores(steps.draws, query.n, scratch)
        start_query(steps.sums, query.n, scratch)
        total, n_rankings = as_type_of(by_push, 0.0), number_of_rankings(steps.draws, objective)
        for number in range(n_rankings):
            ranking_state = draw_ranking(
                steps.draws, steps.rank, objective.noise, query, number, mix(state, q), scratch
            )
            ranked = ranked_query(query, scratch)
            own = prepare(objective.weight, ranked, query.values.weight, scratch.own)
            values = query.values.pairs
            arranged = arrange(
                steps.arrange, objective, ranked, own, values, ranking_state, scratch
            )
            total += visit(steps.visit, objective, arranged, embed_per_anchor, scratch)
            collect(steps.sums, arranged, scratch)
        mean = as_type_of(total, 1.0) / as_type_of(total, n_rankings)
        # Each pair pushes two documents.
        factor = mean * scale(objective.scale, mean * by_push * (total + total))
        by_query = Factors(-factor * by_push, factor * by_hessian)
        write(steps.sums, query, places_of(steps.arrange, scratch), by_query, scratch, out)


@uncounted_inline
def one_query(plan, q):
    """Return one query of the plan, without padding."""
    start, end = plan.ptr[q], plan.ptr[q + 1]
    n, values = end - start, documents(plan.values, start, end)
    return Query(q, n, n, start, plan.rows, plan.label, values, plan.discount)


@uncounted_inline
def padded_query(step, plan, q):
    """Return one query of the plan, padded as the step `visit` needs it."""
    query = one_query(plan, q)
    padded = padded_length(step, query.n)
    return Query(
        q, query.n, padded, query.start, query.rows, query.label, query.values, query.discount
    )


def pairwise_scratch(objective: Any, steps: Steps, memory: Memory) -> PairScratch:
    """Return one thread's memory for these steps."""
    own = memory.room(objective.weight)
    return PairScratch(
        ranking=memory.ranking(),
        docs=memory.docs(),
        arranging=steps.arrange.allocate(memory, moving_columns(objective.weight, own)),
        visiting=steps.visit.allocate(memory),
        own=own,
        pairs=memory.room(objective.pairs),
        draws=steps.draws.allocate(memory),
        sums=steps.sums.allocate(memory),
        totals=steps.sums.allocate_totals(memory),
    )
