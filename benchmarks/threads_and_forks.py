"""Predict from many threads and in other processes, and compare all bits with those of one thread.

    python -m benchmarks.threads_and_forks --threads 8 --calls 200

For each engine: several threads predict with one model at a time; a process that was forked after the model was used
predicts, reads the model again and trains; so do a spawned process and one of joblib's loky. The table has the
failures, differences and hangs of each.
"""

import argparse
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import rankwood as rw

ENGINES = {
    "lightgbm": {"objective": "lambdarank-ndcg@10"},
    "xgboost": {"objective": "lambdarank-ndcg@10"},
    "catboost": {"objective": "yetirank", "num_leaves": 8},
    "pairtree": {"objective": "bi-lambdarank-ndcg@5"},
}
_LONGEST = 60.0  # seconds until a process counts as hanging


def fitted(engine: str) -> Any:
    """Return a small ranker of an engine, trained on two threads."""
    params = {"n_estimators": 5, "num_leaves": 7, "n_jobs": 2, **ENGINES[engine]}
    return rw.Ranker(engine=engine, **params).fit(_data())


def _data() -> rw.RankingData:
    return rw.load_demo("test")


def in_threads(ranker: Any, threads: int, calls: int) -> int:
    """Return how many of all predictions failed or differ from the first."""
    data = _data()
    expected = ranker.predict(data)

    def work(_: int) -> int:
        bad = 0
        for _ in range(calls):
            try:
                bad += not np.array_equal(ranker.predict(data), expected)
            except Exception:
                bad += 1
        return bad

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(work, range(threads)))


def predict(ranker: Any, expected: np.ndarray) -> bool:
    """Predict with the model that is there."""
    return np.array_equal(ranker.predict(_data()), expected)


def predict_copy(ranker: Any, expected: np.ndarray) -> bool:
    """Let the engine read its model again, and predict."""
    import pickle

    return predict(pickle.loads(pickle.dumps(ranker)), expected)


def train_again(ranker: Any, expected: np.ndarray) -> bool:
    """Train the same model, and predict."""
    return predict(rw.Ranker(**ranker.get_params()).fit(_data()), expected)


TASKS: dict[str, Callable[[Any, np.ndarray], bool]] = {
    "predict": predict,
    "read and predict": predict_copy,
    "train": train_again,
}


def in_fork(task: str, ranker: Any, expected: np.ndarray) -> str:
    """Return "same bits", or what happened, after a task in a forked process."""
    process = os.fork()
    if process == 0:
        try:
            os._exit(0 if TASKS[task](ranker, expected) else 3)
        except BaseException:
            os._exit(4)
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return {0: "same bits", 3: "other bits"}.get(
                os.waitstatus_to_exitcode(status), "failed"
            )
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return "hangs"


def in_spawned(ranker: Any, expected: np.ndarray) -> str:
    """Return "same bits", or what happened, after all tasks in a spawned process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return _all_same(pool.apply_async(_every_task, (ranker, expected)).get(10 * _LONGEST))


def in_loky(ranker: Any, expected: np.ndarray) -> str:
    """Return "same bits", or what happened, after all tasks in processes of joblib."""
    from joblib import Parallel, delayed

    done = Parallel(n_jobs=2)(delayed(_every_task)(ranker, expected) for _ in range(2))
    return _all_same([value for values in done for value in values])


def _every_task(ranker: Any, expected: np.ndarray) -> list[bool]:
    return [task(ranker, expected) for task in TASKS.values()]


def _all_same(values: list[bool]) -> str:
    return "same bits" if all(values) else "other bits"


def rows(engines: list[str], threads: int, calls: int) -> list[list[str]]:
    """Return a row of the table for each engine."""
    found = []
    for engine in engines:
        ranker = fitted(engine)
        expected = ranker.predict(_data())
        bad = in_threads(ranker, threads, calls)
        forked = [in_fork(task, ranker, expected) for task in TASKS]
        outside = [in_spawned(ranker, expected), in_loky(ranker, expected)]
        found.append([engine, f"{bad} of {threads * calls}", *forked, *outside])
    return found


def table(found: list[list[str]]) -> str:
    """Return rows as a table in Markdown."""
    head = ["engine", "failures of threads", *(f"fork: {task}" for task in TASKS), "spawn", "loky"]
    lines = [head, ["---"] * len(head), *found]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=200, help="predictions of each thread")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    args = parser.parse_args()
    found = rows(args.engines, args.threads, args.calls)
    print(table(found))
    good = {"same bits", f"0 of {args.threads * args.calls}"}
    raise SystemExit(any(not set(row[1:]) <= good for row in found))


if __name__ == "__main__":
    main()
