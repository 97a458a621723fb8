"""The memory of a team, what its threads do together or alone, and the step `rank`."""

import numpy as np

from rankwood._kernels.compile.jit import uncounted_inline
from rankwood._kernels.cuda import SIMULATED
from rankwood._kernels.cuda.columns import team_columns
from rankwood._kernels.cuda.sorting import rank_words
from rankwood._kernels.cuda.team import (
    barrier,
    broadcast,
    set_alone,
    shared_memory,
    team_max,
    team_size,
    thread,
)
from rankwood._kernels.each import each
from rankwood._kernels.numeric.rng import mix
from rankwood._kernels.numeric.scalars import descending_bits
from rankwood._kernels.parts import part
from rankwood._kernels.records import documents
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.verbs import list_gradient, perturb, prepare

# Where a team's columns are.


@verb(kind="uncounted inline")
def place_columns(where, task, query):
    """Return the columns of a query; they lie an even number of words apart, which aligns 64-bit words."""


@part
class InShared:
    """Shared memory: for lists that fit into it."""

    def place_columns(self, task, query):
        return team_columns(task.layout, shared_memory(), query.n + query.n % 2, query.n)


@part
class InGlobal:
    """Global memory, each query at its place in the plan: for lists of any length."""

    def place_columns(self, task, query):
        start = (query.start + query.number) * task.n_columns
        end = start + (query.n + 1) * task.n_columns
        memory = documents(task.memory, start, end)
        return team_columns(task.layout, memory, query.n + query.n % 2, query.n)


# What a verb does alone or in a team.


@verb(kind="uncounted inline")
def prepare_by(mode, objective, ranked, values, room):
    """Return what the weight prepares for a ranking."""


@verb(kind="uncounted inline")
def perturb_by(mode, noise, score, number, state, out):
    """Fill `out` with perturbed scores."""


@verb(kind="uncounted inline")
def list_gradient_by(mode, objective, query, state, room, out):
    """Fill the derivatives of a query."""


@part
class OnTeam:
    """All threads call the verb, and share the turns of its loops over `each`."""

    def prepare_by(self, objective, ranked, values, room):
        own = prepare(objective.weight, ranked, values, room)
        barrier()
        return own

    def perturb_by(self, noise, score, number, state, out):
        perturb(noise, score, number, state, out)
        return 0

    def list_gradient_by(self, objective, query, state, room, out):
        list_gradient(objective, query, state, room, out)
        return 0


# Compiled code leaves `own` unset in all threads but the first: a None would change its type. Python needs a value.


def _prepare_alone(self, objective, ranked, values, room):
    if thread() == 0:
        set_alone(1)
        own = prepare(objective.weight, ranked, values, room)
        set_alone(0)
    return broadcast(own)


def _prepare_alone_simulated(self, objective, ranked, values, room):
    own = None
    if thread() == 0:
        set_alone(1)
        own = prepare(objective.weight, ranked, values, room)
        set_alone(0)
    return broadcast(own)


@part
class Alone:
    """The first thread calls the verb and hands out what it returns."""

    prepare_by = _prepare_alone_simulated if SIMULATED else _prepare_alone

    def perturb_by(self, noise, score, number, state, out):
        if thread() == 0:
            set_alone(1)
            perturb(noise, score, number, state, out)
            set_alone(0)
        barrier()  # the other threads must not call `alone` before this
        return 0

    def list_gradient_by(self, objective, query, state, room, out):
        if thread() == 0:
            set_alone(1)
            list_gradient(objective, query, state, room, out)
            set_alone(0)
        barrier()
        return 0


# Rank.


@verb(kind="uncounted inline")
def device_rankings(step, objective):
    """Return the number of rankings of a query."""


@verb(kind="uncounted inline")
def device_rank(step, mode, noise, query, scores, number, state, columns):
    """Fill the slot of each rank of one ranking; return its random state."""


@part
class RankByScore:
    """One ranking, by the scores."""

    def device_rankings(self, objective):
        return 1

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        for i in each(query.n):
            columns.word[i] = descending_bits(scores[query.rows[query.start + i]])
        rank_words(columns.word, columns.slot)
        return state


@part
class RankByNoise:
    """Several rankings, by perturbed scores."""

    def device_rankings(self, objective):
        return objective.draws

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        state = mix(state, number)
        barrier()
        perturb_by(mode, noise, columns.score, number, state, columns.perturbed)
        for i in each(query.n):
            columns.word[i] = descending_bits(columns.perturbed[i])
        rank_words(columns.word, columns.slot)
        return state


@part
class RankBySlot:
    """No ranking: documents keep their slots, as the objective doesn't depend on ranks."""

    def device_rankings(self, objective):
        return 1

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        for i in each(query.n):
            columns.slot[i] = i
        return state


@uncounted_inline
def middle_and_top(query, scores):
    """Return the middle of the range of a query's scores, and the highest; NaN if a score is."""
    low = high = np.float64(scores[query.rows[query.start]])
    for i in range(thread(), query.n, team_size()):
        s = np.float64(scores[query.rows[query.start + i]])
        low, high = (s if s < low or s != s else low), (s if s > high or s != s else high)
    low, high = -team_max(-low), team_max(high)
    return 0.5 * low + 0.5 * high, high
