"""A tree learner on stored pairs, in plain loops over a matrix of pairs and lists of allowed thresholds."""

import math

import numpy as np


def pairs_of(sizes):
    """Ordered pairs (i, j): by query, by a < b, (a, b) before (b, a)."""
    found, base = [], 0
    for n in sizes:
        for a in range(n):
            for b in range(a + 1, n):
                found += [(base + a, base + b), (base + b, base + a)]
        base += n
    return found


def pair_matrix(X, sizes, differences):
    """Features of pairs: the first document's, the second document's, the differences in float32."""
    X = np.asarray(X, np.float32)
    rows = [
        np.concatenate([X[i], X[j], X[i, differences] - X[j, differences]])
        for i, j in pairs_of(sizes)
    ]
    return np.array(rows, np.float32).reshape(-1, 2 * X.shape[1] + len(differences))


def leaf_gain(G, H, l1, l2):
    size = max(abs(G) - l1, 0.0)
    return size * size / (H + l2) if H + l2 > 0 else 0.0


def leaf_value(G, H, l1, l2):
    size = max(abs(G) - l1, 0.0)
    return -math.copysign(size, G) / (H + l2) if H + l2 > 0 and size > 0 else 0.0


def best_split(M, thresholds, rows, grad, hess, p):
    """Return (gain, column, threshold, missing left, left rows, right rows), or None; the first of equal columns.

    Of equal splits of a column the one with the largest threshold, and missing values left before right. Missing
    values that aren't there go where most pairs go.
    """
    own = leaf_gain(math.fsum(grad[rows]), math.fsum(hess[rows]), p["l1"], p["l2"])
    top, found = own + p["min_gain"], None
    for column, allowed in enumerate(thresholds):
        values = M[rows, column]
        missing = np.isnan(values)
        for missing_left in [True, False] if missing.any() else [False]:
            for t in sorted(allowed, reverse=True):
                goes = (values <= t) | (missing & missing_left)
                left, right = rows[goes], rows[~goes]
                if min(len(left), len(right)) < p["min_data"]:
                    continue
                HL, HR = math.fsum(hess[left]), math.fsum(hess[right])
                if min(HL, HR) < p["min_hessian"] or min(HL + p["l2"], HR + p["l2"]) <= 0:
                    continue  # a side without curvature has no value
                gain = leaf_gain(math.fsum(grad[left]), HL, p["l1"], p["l2"])
                gain += leaf_gain(math.fsum(grad[right]), HR, p["l1"], p["l2"])
                if gain > top:
                    side = missing_left if missing.any() else len(left) >= len(right)
                    top, found = gain, (gain - own, column, t, side, left, right)
    return found


def grow(M, thresholds, grad, hess, **params):
    """Return splits in their order, (leaf, gain, column, threshold, missing left), and rows and values of leaves."""
    p = {
        **{"num_leaves": 31, "max_depth": -1, "min_data": 20, "min_hessian": 1e-3},
        **{"l1": 0.0, "l2": 0.0, "min_gain": 0.0},
        **params,
    }

    def search(rows, depth):
        return None if depth == p["max_depth"] else best_split(M, thresholds, rows, grad, hess, p)

    leaves, depths = [np.arange(len(M))], [0]
    open_splits, splits = [search(leaves[0], 0)], []
    while len(leaves) < p["num_leaves"] and any(open_splits):
        gains = [s[0] if s else -1.0 for s in open_splits]
        k = gains.index(max(gains))
        gain, column, threshold, missing_left, left, right = open_splits[k]
        splits.append((k, gain, column, threshold, missing_left))
        depths[k] += 1
        leaves[k], open_splits[k] = left, search(left, depths[k])
        leaves.append(right)
        depths.append(depths[k])
        open_splits.append(search(right, depths[k]))
    values = [leaf_value(math.fsum(grad[r]), math.fsum(hess[r]), p["l1"], p["l2"]) for r in leaves]
    return splits, leaves, values


def predict(tree, x_first, x_second):
    """The value of one pair, node by node; `tree` has lists by the names of the file."""
    at = 0 if len(tree["side"]) else -1
    while at >= 0:
        c = tree["column"][at]
        x = np.float32(
            [x_first[c], x_second[c], np.float32(x_first[c]) - np.float32(x_second[c])][
                tree["side"][at]
            ]
        )
        left = tree["missing_left"][at] if np.isnan(x) else x <= tree["threshold"][at]
        at = tree["left"][at] if left else tree["right"][at]
    return tree["value"][-1 - at]


def total(values):
    """One after the other: from Python 3.12 on, `sum` rounds only once."""
    result = 0.0
    for value in values:
        result += value
    return result


def item_scores(S):
    """Mean over j of s_ij - s_ji; 0 for a list of one."""
    n = len(S)
    return [
        math.fsum(S[i][j] - S[j][i] for j in range(n) if j != i) / max(n - 1, 1) for i in range(n)
    ]
