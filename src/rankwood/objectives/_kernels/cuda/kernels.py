"""The kernels, and the records that they take."""

from collections import namedtuple
from typing import Annotated, Any

from rankwood._kernels.cuda.team import barrier, block, set_alone, team_sum, thread
from rankwood._kernels.each import each
from rankwood._kernels.numeric.rng import mix
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can, part
from rankwood.metrics.ranked import Ranked
from rankwood.objectives._kernels.cuda.ranking import (
    Alone,
    InShared,
    OnTeam,
    RankByScore,
    device_rank,
    device_rankings,
    list_gradient_by,
    middle_and_top,
    place_columns,
    prepare_by,
)
from rankwood.objectives._kernels.cuda.visiting import (
    Anchors,
    FirstAnchors,
    find_anchors,
    visit_partners,
)
from rankwood.objectives._kernels.pairwise import one_query
from rankwood.objectives._kernels.records import Derivatives, ListQuery
from rankwood.objectives._kernels.verbs import embed, factors, largest_score, origin, scale

#: What a kernel works on: the lowered objective and steps, the queries in the order of the blocks, the factor on each
#: query, the layout of a team's columns and their number, global memory for columns that don't fit into shared memory,
#: and the `AnchorBounds`.
DeviceTask = namedtuple(
    "DeviceTask", "objective steps queries weight layout n_columns memory bounds"
)
#: Columns of the pairwise kernel. By slot: score, embedded score, push, hessian, words to sort by, perturbed scores. By
#: rank: slot, score, embedded score, label, turn. `own` and `pairs` are the rooms of weight and pair set.
PairColumns = namedtuple(
    "PairColumns", "word slot score embedded push hessian perturbed docs turn order own pairs"
)
DeviceDocs = namedtuple("DeviceDocs", "label score embedded")
#: Columns of the listwise kernel, by slot.
ListColumns = namedtuple("ListColumns", "label score gradient hessian own")


@part
class DeviceSteps:
    """How the kernels for a GPU compute an objective."""

    memory: Annotated[Any, Can("place_columns")] = InShared()
    rank: Annotated[Any, Can("device_rank")] = RankByScore()
    anchors: Annotated[Any, Can("find_anchors")] = FirstAnchors()
    prepare: Annotated[Any, Can("prepare_by")] = Alone()
    perturb: Annotated[Any, Can("perturb_by")] = OnTeam()


def pairwise_device_kernel(task, plan, state, scores, grad, hess):
    """Write gradients and Hessians; each team computes one query."""
    objective, steps = task.objective, task.steps
    query = one_query(plan, int(task.queries[block()]))
    n, columns = query.n, place_columns(steps.memory, task, query)
    by_push, by_hessian = factors(objective.loss)
    zero = as_type_of(by_push, 0.0)
    if thread() == 0:
        set_alone(0)
    barrier()
    middle, high = middle_and_top(query, scores)
    embed_per_anchor = high - middle > largest_score(objective.loss)
    for i in each(n):
        s = as_type_of(zero, scores[query.rows[query.start + i]] - middle)
        columns.score[i], columns.embedded[i] = s, embed(objective.loss, s)
    total, rankings = zero, device_rankings(steps.rank, objective)
    docs, random = columns.docs, mix(state, query.number)
    for number in range(rankings):
        ranking_state = device_rank(
            steps.rank, steps.perturb, objective.noise, query, scores, number, random, columns
        )
        for i in each(n):
            slot = columns.slot[i]
            docs.label[i] = query.label[query.start + slot]
            docs.score[i], docs.embedded[i] = columns.score[slot], columns.embedded[slot]
        if number == 0:  # with a single ranking, the sums reuse the memory of scores by slot
            for i in each(n):
                columns.push[i] = columns.hessian[i] = zero
        ranked = Ranked(n, docs.label, docs.score, columns.slot, query.discount)
        own = prepare_by(steps.prepare, objective, ranked, query.values.weight, columns.own)
        m = find_anchors(
            steps.anchors, objective, ranked, query.values.pairs, ranking_state, columns
        )
        anchors = Anchors(m, query.number, task.bounds)
        total += visit_partners(objective, steps, ranked, own, anchors, embed_per_anchor, columns)
    total = team_sum(total)
    mean = as_type_of(total, 1.0) / as_type_of(total, rankings)
    factor = mean * scale(objective.scale, mean * by_push * (total + total))
    factor *= task.weight[query.number]
    for i in each(n):
        row = query.rows[query.start + i]
        grad[row] = -factor * by_push * columns.push[i]
        hess[row] = factor * by_hessian * columns.hessian[i]


def listwise_device_kernel(task, plan, state, scores, grad, hess):
    """Write gradients and Hessians of an objective without pairs; each team computes one query."""
    steps = task.steps
    query = one_query(plan, int(task.queries[block()]))
    n, columns = query.n, place_columns(steps.memory, task, query)
    zero = as_type_of(query.discount[0], 0.0)
    if thread() == 0:
        set_alone(0)
    barrier()
    middle, _ = middle_and_top(query, scores)
    zero_score = origin(task.objective, middle)
    for i in each(n):
        columns.label[i] = query.label[query.start + i]
        columns.score[i] = scores[query.rows[query.start + i]] - zero_score
        columns.gradient[i] = columns.hessian[i] = zero
    barrier()
    listed = ListQuery(columns.label, columns.score, query.values, query.discount)
    out = Derivatives(columns.gradient, columns.hessian)
    list_gradient_by(
        steps.prepare, task.objective, listed, mix(state, query.number), columns.own, out
    )
    factor = task.weight[query.number]
    for i in each(n):
        row = query.rows[query.start + i]
        grad[row], hess[row] = factor * out.gradient[i], factor * out.hessian[i]
