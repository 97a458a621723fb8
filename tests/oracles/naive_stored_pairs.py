"""LightGBM on a stored matrix of all pairs of documents, as the bivariate paper does it [bivariate2024]."""

import math

import lightgbm as lgb
import numpy as np

from tests.oracles.naive_pairtree import pair_matrix, pairs_of


def document_scores(pair_scores, sizes):
    """The mean of s_ij - s_ji over the other documents j of the query of i."""
    table = dict(zip(pairs_of(sizes), pair_scores, strict=True))
    scores, base = [], 0
    for n in sizes:
        for i in range(base, base + n):
            terms = [table[i, j] - table[j, i] for j in range(base, base + n) if j != i]
            scores.append(math.fsum(terms) / max(1, n - 1))
        base += n
    return np.array(scores)


def predict(booster, X, sizes, differences):
    """Scores of documents by trees on pairs."""
    M = pair_matrix(X, sizes, differences).astype(np.float64)
    return document_scores(booster.predict(M, num_threads=1) if len(M) else [], sizes)


def train(X, sizes, differences, gradients, rounds, **params):
    """Train with LightGBM's parameters; `gradients` are those of pairs, by the scores of documents."""
    fixed = {"objective": "none", "verbosity": -1, "num_threads": 1, "deterministic": True}
    M = pair_matrix(X, sizes, differences).astype(np.float64)
    booster = lgb.Booster({**fixed, **params}, lgb.Dataset(M, np.zeros(len(M)), params=params))

    def objective(pair_scores, _):
        return gradients(document_scores(pair_scores, sizes))

    for _ in range(rounds):
        booster.update(fobj=objective)
    return booster
