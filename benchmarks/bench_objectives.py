"""Every kind of pairwise objective against LightGBM's native lambdarank, and S+ against a full double loop.

As in `bench_objective`, what is timed is a boosting round minus the same round with an objective that
does nothing. Every contender starts from the same scores, half the label plus normal noise: NDCG@10 is 0.47,
about what models reach on web search data, and as in the middle of a training the scores are all
different and move little from round to round (from nothing, two values would do all the ranking).
"""

from functools import partial
from typing import Any

import numba
import numpy as np

import rankwood as rw
from benchmarks._timing import interleave, spread
from benchmarks.bench_objective import THREADS, queries
from rankwood.data.groups import group_rows
from rankwood.engines.lightgbm.engine import lgb
from rankwood.objectives.gradients import GradientComputer

#: Names by the bar they have to meet: against the native objective at truncation 10, against that without
#: truncation, and the pairs of a plain objective and its extension.
AT_10 = [
    *("lambdarank-ndcg@10", "lambdarank-bndcg@10", "lambdaloss-ndcg1@10", "lambdaloss-ndcg@10"),
    *("lambdaloss-ndcg++@10", "lambdaloss-bndcg@10", "lambdaloss-bndcg++@10"),
]
CHEAP = ["lambdarank-p@10", "lambdagap-s@10"]
ALL_PAIRS = [
    *("ranknet", "bin-ranknet", "lambdarank-arpk@10", "lambdagap-x@10", "lambdagap-s++@10"),
    *("lambdagap-x++@10", "lambdarank-map", "lambdarank-err"),
]
EXTENDED = {
    "lambdamart-ex-static@10": "lambdarank-ndcg@10",
    "lambdaloss-ex-static@10": "lambdaloss-ndcg@10",
}


class Rounds:
    """Boosting rounds over the same documents, one contender each."""

    def __init__(self) -> None:
        self.y, self.sizes = queries()
        rng = np.random.default_rng(1)
        self.X = rng.normal(size=(self.y.size, 1))
        self.start = 0.5 * self.y + rng.normal(size=self.y.size)
        self.groups = group_rows(self.y.size, group=self.sizes)
        self.idle = (
            rng.normal(size=self.y.size).astype(np.float32),
            np.ones(self.y.size, np.float32),
        )

    def booster(self, params: dict[str, Any]) -> lgb.Booster:
        shared = {"num_leaves": 2, "num_threads": THREADS, "verbose": -1, "metric": "None"}
        data = lgb.Dataset(self.X, self.y, group=self.sizes, init_score=self.start)
        return lgb.Booster({**shared, **params}, data)

    def nothing(self) -> Any:
        return partial(self.booster({"objective": "none"}).update, fobj=lambda *_: self.idle)

    def native(self, k: int) -> Any:
        return self.booster({"objective": "lambdarank", "lambdarank_truncation_level": k}).update

    def ours(self, name: str) -> Any:
        call = GradientComputer(
            rw.objective(name), self.y, self.groups, dtype=np.float32, n_jobs=THREADS
        )
        return partial(self.booster({"objective": "none"}).update, fobj=lambda s, _: call(s))


def run(rounds: int = 12) -> list[dict[str, Any]]:
    stage = Rounds()
    names = [*AT_10, *CHEAP, *ALL_PAIRS, *EXTENDED]
    contenders = {"null": stage.nothing(), "native": stage.native(10), "all": stage.native(10_000)}
    contenders |= {name: stage.ours(name) for name in names}
    seconds = interleave(contenders, rounds)
    null = min(seconds["null"])
    best = {name: min(s) - null for name, s in seconds.items()}

    def row(name: str, other: str, against: str, bar: str, met: Any) -> dict[str, Any]:
        ratio = best[other] / best[name]
        return {
            "what": name,
            "against": against,
            "ours": f"{1e3 * best[name]:.1f} ms",
            "other": f"{1e3 * best[other]:.1f} ms",
            "ratio": ratio,
            "bar": bar,
            "met": met(ratio),
            "spread": f"{spread(seconds[name])}; {other} {spread(seconds[other])}",
        }

    rows = [row(n, "native", "native, truncation 10", "≥ 2×", lambda r: r >= 2) for n in AT_10]
    at_most_half = ("native, truncation 10", "≥ 2× (at most half)", lambda r: r >= 2)
    rows += [row(n, "native", *at_most_half) for n in CHEAP]
    rows += [row(n, "all", "native, all pairs", "≥ 2.5×", lambda r: r >= 2.5) for n in ALL_PAIRS]
    for name, base in EXTENDED.items():
        rows.append(row(name, base, base, "≥ 0.77 (at most 1.3×)", lambda r: r >= 1 / 1.3))
    return [*rows, *full_loops(stage)]


# The program behind LambdaGap visits, for each i, all j from max(i + 1, k) on, and skips what has no
# weight; the same here, written out and compiled, with the two-step normalisation.


@numba.njit(nogil=True, fastmath=True)
def _full_loop(ptr, rows, relevant, scores, k, mu, exact, grad, hess, first, last):
    for q in range(first, last):
        own = rows[ptr[q] : ptr[q + 1]]
        order = np.argsort(-scores[own], kind="mergesort")
        n = own.size
        push, curve, total = np.zeros(n), np.zeros(n), 0.0
        flat = scores[own[order[0]]] == scores[own[order[n - 1]]]
        for i in range(n):
            x = own[order[i]]
            for j in range(max(i + 1, k), n):
                y = own[order[j]]
                if relevant[x] == relevant[y]:
                    continue
                gap = j - i == k if exact else j - i >= k
                weight = (1.0 if i < k else 0.0) + (mu if gap else 0.0)
                if weight == 0.0:
                    continue
                sign = 1.0 if relevant[x] > relevant[y] else -1.0
                apart = sign * (scores[x] - scores[y])
                if not flat:
                    weight /= 0.01 + abs(apart)
                rho = 1.0 / (1.0 + np.exp(apart))
                push[i] += sign * weight * rho
                push[j] -= sign * weight * rho
                curve[i] += weight * rho * (1.0 - rho)
                curve[j] += weight * rho * (1.0 - rho)
                total += 2.0 * weight * rho
        factor = np.log2(1.0 + total) / total if total > 0.0 else 1.0
        for i in range(n):
            grad[own[order[i]]] = -factor * push[i]
            hess[own[order[i]]] = factor * curve[i]


def full_loops(stage: Rounds, rounds: int = 8) -> list[dict[str, Any]]:
    """S+ and X+ on one thread against the full double loop, on the same scores; both give the same numbers."""
    y, groups, rows = stage.y, stage.groups, []
    relevant = (y > 0).astype(np.float64)
    scores = [stage.start, stage.start + 0.01 * stage.idle[0]]
    for name, exact, bar in (("lambdagap-s+@10", True, 5.0), ("lambdagap-x+@10", False, None)):
        drive = GradientComputer(rw.objective(name), y, groups, dtype=np.float32, n_jobs=1)
        grad, hess = np.empty(y.size), np.empty(y.size)
        fixed = (groups.ptr, groups.rows, relevant)
        count = iter(range(10_000))

        def full(fixed=fixed, out=(grad, hess), exact=exact, count=count):
            now = scores[next(count) % 2]
            _full_loop(*fixed, now, 10, 1.0, exact, *out, 0, groups.ptr.size - 1)

        def ours(drive=drive, count=iter(range(10_000))):  # noqa: B008
            return drive(scores[next(count) % 2])

        full()
        assert np.allclose(ours()[0], grad, rtol=1e-3, atol=1e-4)
        seconds = interleave({"ours": ours, "full": full}, rounds)
        own, other = min(seconds["ours"]), min(seconds["full"])
        rows.append(
            {
                "what": f"{name}, 1 thread",
                "against": "the authors' full double loop",
                "ours": f"{1e3 * own:.1f} ms",
                "other": f"{1e3 * other:.1f} ms",
                "ratio": other / own,
                "bar": f"≥ {bar:g}×" if bar else "(none)",
                "met": bar is None or other / own >= bar,
                "spread": f"ours {spread(seconds['ours'])}; full loop {spread(seconds['full'])}",
            }
        )
    return rows


if __name__ == "__main__":
    for row in run():
        cells = f"{row['what']:28s} {row['ours']:>10s} {row['other']:>10s} {row['ratio']:6.2f}"
        print(cells, row["bar"], row["met"])
