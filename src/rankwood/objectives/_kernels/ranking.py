"""The step `rank`: rank the documents of a query, as far as its parts need."""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.numeric.rng import mix
from rankwood._kernels.numeric.sorting import repair_sort, select_top, sort_down
from rankwood._kernels.parts import part
from rankwood._kernels.records import documents
from rankwood._kernels.verbs import verb
from rankwood.metrics.ranked import Ranked
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import embed, largest_score, perturb


@verb(kind="uncounted inline")
def rank(step, loss, query, scores, last_ranking, scratch):
    """Rank a query by its scores and embed them; return whether they are too wide apart to be embedded together."""


@verb(kind="uncounted inline")
def rank_perturbed(step, n, scratch):
    """Fill the slot of each rank, by the perturbed scores."""


@uncounted_inline
def embed_all(loss, query, key_is_by_rank, scratch):
    """Fill scores by rank, relative to the middle of their range, and what the loss makes of them; pad both."""
    n, docs, key, slot = query.n, scratch.docs, scratch.ranking.key, scratch.ranking.slot
    low = high = key[0]
    for i in range(n):
        low, high = (key[i] if key[i] < low else low), (key[i] if key[i] > high else high)
    middle = 0.5 * low + 0.5 * high
    for i in range(n):
        docs.score[i] = key[i if key_is_by_rank else slot[i]] - middle
    for i in range(n, query.padded):
        slot[i], docs.score[i] = slot[n - 1], docs.score[n - 1]
    for i in range(query.padded):
        docs.embedded[i] = embed(loss, docs.score[i])
    return high - middle > largest_score(loss)


@part
class RankAll:
    """Sort all documents; the order of the round before is repaired."""

    def rank(self, loss, query, scores, last_ranking, scratch):
        n, start, to = query.n, query.start, scratch.ranking
        for i in range(n):
            to.slot[i] = last_ranking[start + i]
            to.key[i] = scores[query.rows[start + to.slot[i]]]
        repair_sort(documents(to.key, 0, n), documents(to.slot, 0, n), to.spare, to.sorting)
        for i in range(n):
            last_ranking[start + i] = to.slot[i]
        return embed_all(loss, query, True, scratch)

    def rank_perturbed(self, n, scratch):
        perturbed = documents(scratch.draws.perturbed, 0, n)
        sort_down(perturbed, scratch.ranking.slot, scratch.ranking.sorting)
        return 0


@part
class RankFirst:
    """Find the first k documents without sorting them."""

    k: int = 1

    def rank(self, loss, query, scores, last_ranking, scratch):
        n, start, to = query.n, query.start, scratch.ranking
        for i in range(n):
            to.slot[i] = last_ranking[start + i]
            to.key[i] = scores[query.rows[start + i]]
        if self.k < n:
            select_top(documents(to.key, 0, n), to.slot, self.k, to.spare)
        for i in range(n):
            last_ranking[start + i] = to.slot[i]
        return embed_all(loss, query, False, scratch)

    def rank_perturbed(self, n, scratch):
        if self.k < n:
            perturbed = documents(scratch.draws.perturbed, 0, n)
            select_top(perturbed, scratch.ranking.slot, self.k, scratch.draws.spare)
        return 0


@part
class RankNone:
    """Leave documents in the order of their slots: the ranking doesn't matter."""

    def rank(self, loss, query, scores, last_ranking, scratch):
        for i in range(query.n):
            scratch.ranking.slot[i] = i
            scratch.ranking.key[i] = scores[query.rows[query.start + i]]
        return embed_all(loss, query, True, scratch)

    def rank_perturbed(self, n, scratch):
        return 0


@uncounted_inline
def ranked_query(query, scratch):
    """Return the query in rank order; padding has no label."""
    docs, slot = scratch.docs, scratch.ranking.slot
    for i in range(query.n):
        docs.label[i] = query.label[query.start + slot[i]]
    for i in range(query.n, query.padded):
        docs.label[i] = np.nan
    label, score = documents(docs.label, 0, query.padded), documents(docs.score, 0, query.padded)
    return Ranked(query.n, label, score, documents(slot, 0, query.padded), query.discount)


# One ranking or several.

#: Scores and embeddings by slot, perturbed scores, and room to select among them.
Draws = namedtuple("Draws", "score embedded perturbed spare")


@verb(kind="uncounted inline")
def number_of_rankings(draws, objective):
    """Return how many rankings of a query are looked at."""


@verb(kind="uncounted inline")
def keep_scores(draws, n, scratch):
    """Keep scores and embeddings by slot, for rankings to come."""


@verb(kind="uncounted inline")
def draw_ranking(draws, rank_step, noise, query, number, state, scratch):
    """Rank by perturbed scores, or leave the ranking as it is; return the random state of this ranking."""


@part
class OneRanking:
    """The ranking by the scores themselves."""

    def allocate(self, memory: Memory) -> tuple[()]:
        """Return nothing: no memory is needed."""
        return ()

    def number_of_rankings(self, objective):
        return 1

    def keep_scores(self, n, scratch):
        return 0

    def draw_ranking(self, rank_step, noise, query, number, state, scratch):
        return state


@part
class SeveralRankings:
    """Rankings by perturbed scores; the loss sees the scores themselves."""

    def allocate(self, memory: Memory) -> Any:
        """Return columns to perturb and sort scores in."""
        return memory.record(Draws)

    def number_of_rankings(self, objective):
        return objective.draws

    def keep_scores(self, n, scratch):
        docs, draws, slot = scratch.docs, scratch.draws, scratch.ranking.slot
        for i in range(n):
            draws.score[slot[i]], draws.embedded[slot[i]] = docs.score[i], docs.embedded[i]
        return 0

    def draw_ranking(self, rank_step, noise, query, number, state, scratch):
        n, docs, draws, slot = query.n, scratch.docs, scratch.draws, scratch.ranking.slot
        state = mix(state, number)
        score, perturbed = documents(draws.score, 0, n), documents(draws.perturbed, 0, n)
        perturb(noise, score, number, state, perturbed)
        rank_perturbed(rank_step, n, scratch)
        _reorder_scores(n, query.padded, docs, draws, slot)
        return state


@uncounted
def _reorder_scores(n, size, docs, draws, slot):
    """Bring scores and embeddings into rank order, and pad them."""
    for i in range(n):
        docs.score[i], docs.embedded[i] = draws.score[slot[i]], draws.embedded[slot[i]]
    for i in range(n, size):
        slot[i], docs.score[i] = slot[n - 1], docs.score[n - 1]
        docs.embedded[i] = docs.embedded[n - 1]
