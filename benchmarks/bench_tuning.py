"""Trials a minute, and the time to the best value, against the same optimiser around `LGBMRanker.fit`.

    python -m benchmarks.bench_tuning --documents 720000 --trials 40 --seconds 600

All contenders have the same data, space, optimiser and seed. The native one makes its data anew for each trial, as
`LGBMRanker.fit` does; ours shares it. Values are NDCG@10 by LightGBM's definition on both sides.
"""

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import rankwood as rw
from rankwood.engines.lightgbm.engine import lgb
from rankwood.tuning import store, tuners
from rankwood.tuning.parameters import own_values

THREADS = 2
FEATURES = 136
LENGTH = 120  # documents of a query, on average
METRIC = "ndcg@10"


class Setting(NamedTuple):
    documents: int = 720_000
    trials: int = 40
    seconds: float = 600.0
    rounds: int = 100
    patience: int = 20
    tuner: str = "random"


class Step(NamedTuple):
    """A finished trial: seconds since the study began, and its value."""

    seconds: float
    value: float


def make_data(documents: int, seed: int) -> rw.RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(LENGTH // 2, LENGTH * 3 // 2, max(2, documents // LENGTH))
    y = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    X = rng.normal(size=(y.size, FEATURES)).astype(np.float32)
    X[:, :10] += 0.3 * y[:, None].astype(np.float32)
    X[:, 10:20] *= 1 + 0.2 * y[:, None].astype(np.float32)
    return rw.RankingData(X, y, group=sizes)


def our_ranker(setting: Setting) -> rw.Ranker:
    return rw.Ranker(
        "lambdarank-ndcg@30",  # LightGBM truncates at 30
        n_estimators=setting.rounds,
        early_stopping_rounds=setting.patience,
        eval_metric=METRIC,
        shuffle=False,  # documents in LightGBM's order: its trees, but for rounding
        n_jobs=THREADS,
        verbose=False,
    )


def ours(setting: Setting, data: Any, pruner: str | None) -> list[Step]:
    start = time.perf_counter()
    found = rw.tune(
        our_ranker(setting),
        *data,
        tuner=setting.tuner,
        trials=setting.trials,
        seconds=setting.seconds,
        convention="lightgbm",
        pruner=pruner,
        verbose=False,
    )
    whole = time.perf_counter() - start
    spent = np.cumsum(found.trials["seconds"])
    spent += whole - spent[-1]  # what is before and between trials counts as if it came first
    complete = found.trials["state"] == "complete"
    values = np.where(complete, found.trials["value"], -np.inf)
    return [Step(*pair) for pair in zip(spent.tolist(), values.tolist(), strict=True)]


def native(setting: Setting, data: Any) -> list[Step]:
    """Run the same optimiser around LightGBM's own estimator."""
    start, steps = time.perf_counter(), []
    space = rw.spaces.default("lightgbm")
    first = own_values(our_ranker(setting), space)
    random = tuners.settings(setting.trials)["random_trials"]
    with store.quiet():
        study = store.Store(None, {}, "maximize", {}).study
        tuner = tuners.make_tuner(setting.tuner, tuners.Search(space.free, first, 0, random))
    for number in range(setting.trials):
        if number and steps[-1].seconds > setting.seconds:
            break
        with store.quiet():
            trial = tuner.ask(study, number)
        value = native_fit(setting, data, trial.params)
        with store.quiet():
            study.tell(trial, value)
            tuner.tell(number, -value)
        steps.append(Step(time.perf_counter() - start, value))
    return steps


def native_fit(setting: Setting, data: Any, params: dict[str, Any]) -> float:
    train, valid = data
    model = lgb.LGBMRanker(
        n_estimators=setting.rounds,
        random_state=0,
        n_jobs=THREADS,
        verbosity=-1,
        # As our engine sets them: results that depend on the seed only.
        deterministic=True,
        force_col_wise=True,
        **params,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later versions have another name for eval_set
        model.fit(
            train.X,
            train.y,
            group=train.groups.sizes,
            eval_set=[(valid.X, valid.y)],
            eval_group=[valid.groups.sizes],
            eval_at=[10],
            callbacks=[lgb.early_stopping(setting.patience, verbose=False)],
        )
    return float(model.best_score_["valid_0"][METRIC])


def time_to(steps: list[Step], value: float) -> float:
    """Return when a study had a value as good as this; infinity if it never had."""
    return next((step.seconds for step in steps if step.value >= value), float("inf"))


def run(setting: Setting = Setting()) -> list[dict[str, Any]]:  # noqa: B008
    data = (make_data(setting.documents, 1), make_data(setting.documents // 5, 2))
    warm = rw.make_ranking(5).split(0.4)
    our_ranker(setting).fit(warm[0], valid=warm[1])  # compiled beforehand
    theirs = native(setting, data)
    whole, pruned = ours(setting, data, None), ours(setting, data, "median")
    what = f"{setting.tuner}, {setting.documents:,} × {FEATURES}, up to {setting.rounds} trees"
    rates = [60 * len(steps) / steps[-1].seconds for steps in (whole, theirs)]
    best = [max(step.value for step in steps) for steps in (whole, pruned, theirs)]
    # The best value that both have found; two programs round differently.
    target = min(best[0], best[2]) - 1e-4
    times = [time_to(steps, target) for steps in (pruned, theirs)]
    rows = [
        ("trials a minute, none stopped early", rates, rates[0] / rates[1], 1.15, "a minute"),
        ("time to the best value of both, with pruning", times, times[1] / times[0], 1.5, "s"),
    ]
    spread = f"trials {len(whole)}, {len(pruned)} and {len(theirs)} (native); best values " + (
        f"{best[0]:.5f}, {best[1]:.5f} with pruning, {best[2]:.5f} (native)"
    )
    return [
        {
            "what": f"{name}: {what}",
            "against": "the same optimiser around LGBMRanker.fit",
            "ours": f"{both[0]:.2f} {unit}",
            "other": f"{both[1]:.2f} {unit}",
            "ratio": ratio,
            "bar": f"≥ {bar}",
            "met": ratio >= bar,
            "spread": spread,
        }
        for name, both, ratio, bar, unit in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in Setting._field_defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    for row in run(Setting(**vars(parser.parse_args()))):
        print(row)


if __name__ == "__main__":
    main()
