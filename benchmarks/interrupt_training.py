"""Send SIGINT at random moments of training, and look at what is left.

    python -m benchmarks.interrupt_training --moments 300

After each interrupt the model must have the bits of as many rounds as it has; no lock, file, thread or signal handler
may be left, and the next fit must have the bits of one that nobody disturbed. Each kind of training runs in a process
of its own, which is started again if it dies.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import rankwood as rw
from rankwood.spaces import Integer, Space

ROUNDS = 12
_FEW = {"num_leaves": 7, "n_jobs": 1, "early_stopping_rounds": None}
_MOST_MORE = 4  # descriptors and threads that a library may open once and keep


class Training(NamedTuple):
    """A kind of training: an estimator of so many rounds, what it trains on, and whether it has checkpoints."""

    make: Callable[[int], Any]
    source: Callable[[Path], Any]
    resumes: bool = True
    options: Callable[[], dict[str, Any]] = dict


def _in_memory(folder: Path) -> Any:
    return rw.make_ranking(60, seed=1)


def _in_files(folder: Path) -> Any:
    path = folder / "train.txt"
    if not path.exists():
        rw.save_letor(rw.make_ranking(60, seed=1), path)
    return rw.stream_files(path)


def _trees(engine: str, objective: str = "lambdarank-ndcg@10", **more: Any) -> Callable[[int], Any]:
    return lambda rounds: rw.Ranker(objective, engine=engine, n_estimators=rounds, **_FEW, **more)


def _stages(rounds: int) -> Any:
    first, second = _trees("lightgbm")(4), _trees("pairtree", "bi-lambdarank-ndcg@5")(rounds)
    return rw.TwoStage(first, second, top=5, folds=2)


def _network(rounds: int) -> Any:
    return rw.NeuralRanker(epochs=rounds, hidden=(8,), early_stopping_rounds=None, device="cpu")


def _local_cluster() -> dict[str, Any]:
    """Return the words of a fit on a cluster of threads, which lives as long as the process."""
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    )
    return {"cluster": distributed.Client(cluster)}


TRAINING = {
    "lightgbm": Training(_trees("lightgbm", subsample=0.8, colsample_bytree=0.8), _in_memory),
    "xgboost": Training(_trees("xgboost", subsample=0.8), _in_memory),
    "catboost": Training(_trees("catboost", "yetirank"), _in_memory, resumes=False),
    "pairtree": Training(_trees("pairtree", "bi-lambdarank-ndcg@5"), _in_memory),
    "dart": Training(_trees("lightgbm", boosting="dart"), _in_memory, resumes=False),
    "lightgbm, files": Training(_trees("lightgbm"), _in_files),
    "xgboost, files": Training(_trees("xgboost"), _in_files),
    "two stages": Training(_stages, _in_memory),
    "network": Training(_network, _in_memory),
    "cluster": Training(_trees("lightgbm"), _in_memory, options=_local_cluster),
}
KINDS = (*TRAINING, "tune")


@dataclass
class Outcome:
    """What became of the interrupts of a kind of training."""

    moments: int = 0
    #: Interrupts that came within the call.
    inside: int = 0
    #: Interrupts that left a model of some rounds.
    kept: int = 0
    died: int = 0
    wrong: list[str] = field(default_factory=list)


def interrupted(call: Callable[[], Any], seconds: float) -> str:
    """Send SIGINT to this process some time after a call began; return what the call raised, "" if it had ended."""

    def send() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    thread, ended = threading.Thread(target=send), False
    try:
        thread.start()
        call()
        ended = True
        for _ in range(2000):  # until the signal comes
            time.sleep(0.01)
        return "nothing, and the interrupt is lost"
    except KeyboardInterrupt as error:
        found = "" if ended else type(error).__name__
    thread.join()
    return found


def state() -> dict[str, Any]:
    """Return what a fit must leave as it was."""
    return {
        "handler": signal.getsignal(signal.SIGINT),
        "folders": sorted(os.listdir(tempfile.gettempdir())),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }


def left(before: dict[str, Any], folder: Path) -> list[str]:
    """Return what is there that wasn't there before, apart from a few things that libraries open once."""
    for _ in range(100):  # a thread may need a moment to end
        now = state()
        if now["threads"] <= before["threads"]:
            break
        time.sleep(0.01)
    found = [name for name in ("handler", "folders") if now[name] != before[name]]
    found += [
        f"{now[name] - before[name]} more {name}"
        for name in ("descriptors", "threads")
        if now[name] > before[name] + _MOST_MORE
    ]
    return found + [path.name for path in folder.iterdir() if path.suffix in (".lock", ".tmp")]


class Rehearsed:
    """A kind of training with what it must come to: bits of predictions by the number of rounds."""

    def __init__(self, kind: str, folder: Path) -> None:
        self._training, self._folder = TRAINING[kind], folder
        self._data = self._training.source(folder)
        self._rows = rw.make_ranking(20, seed=2)
        self._options = self._training.options()
        self._fit(ROUNDS)  # the first call compiles
        began = time.perf_counter()
        self.fit_again()
        self.seconds = time.perf_counter() - began
        self._bits = {n: self._bits_of(self._fit(n)) for n in range(1, ROUNDS + 1)}

    def _fit(self, rounds: int, estimator: Any = None, **more: Any) -> Any:
        made = self._training.make(rounds) if estimator is None else estimator
        return made.fit(self._data, **self._options, **more)

    def _bits_of(self, estimator: Any) -> bytes:
        return bytes(estimator.predict(self._rows).tobytes())

    def fit_again(self) -> Any:
        """Train without being disturbed, with a checkpoint if there is one."""
        path = self._folder / "run.ckpt"
        file = {"checkpoint": rw.Checkpoint(path, rounds=1)} if self._training.resumes else {}
        return self._fit(ROUNDS, **file)

    def check(self, seconds: float, outcome: Outcome) -> None:
        """Train, interrupt, and look."""
        for path in self._folder.glob("run.ckpt*"):
            path.unlink()
        estimator, before = self._training.make(ROUNDS), state()
        path = self._folder / "run.ckpt"
        file = {"checkpoint": rw.Checkpoint(path, rounds=1)} if self._training.resumes else {}
        raised = interrupted(lambda: self._fit(ROUNDS, estimator, **file), seconds)
        outcome.inside += raised != ""
        outcome.wrong += left(before, self._folder) + ["lost"] * ("lost" in raised)
        rounds = _rounds_of(estimator)
        outcome.kept += rounds > 0
        if rounds and self._bits_of(estimator) != self._bits[rounds]:
            outcome.wrong.append(f"{rounds} rounds have other bits")
        if not raised and rounds != ROUNDS:
            outcome.wrong.append(f"{rounds} rounds after a complete fit")
        if self._bits_of(self.fit_again()) != self._bits[ROUNDS]:
            outcome.wrong.append("the resumed fit has other bits")
        if self._bits_of(self._fit(ROUNDS, estimator)) != self._bits[ROUNDS]:
            outcome.wrong.append("the next fit has other bits")


class RehearsedStudy:
    """A study of `tune`, interrupted and resumed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._train, self._valid = rw.make_ranking(60, seed=3).split(0.4, seed=1)
        self._tuned(folder / "first.db")  # the first call compiles
        began = time.perf_counter()
        self._expected = self._result(self._tuned(folder / "second.db"))
        self.seconds = time.perf_counter() - began

    def _tuned(self, path: Path) -> Any:
        ranker = rw.Ranker(n_estimators=10, num_leaves=7, n_jobs=1)
        space = Space({"num_leaves": Integer(2, 15, log=True)})
        words = {"space": space, "tuner": "random", "trials": 6, "storage": path}
        return rw.tune(ranker, self._train, self._valid, **words)

    def _result(self, tuning: Any) -> tuple[Any, bytes]:
        names = [name for name in tuning.trials.dtype.names if name != "seconds"]
        return tuning.trials[names].tolist(), tuning.best.predict(self._valid).tobytes()

    def check(self, seconds: float, outcome: Outcome) -> None:
        """Tune, interrupt, resume and look."""
        path, before = self._folder / "run.db", state()
        path.unlink(missing_ok=True)
        raised = interrupted(lambda: self._tuned(path), seconds)
        outcome.inside += raised != ""
        outcome.kept += raised == "TuningInterrupt"
        outcome.wrong += left(before, self._folder)
        if self._result(self._tuned(path)) != self._expected:
            outcome.wrong.append("the resumed study has another result")
        outcome.wrong += left(before, self._folder)


def _rounds_of(estimator: Any) -> int:
    """Return the rounds that a model has, 0 if there is none; of the second stage, if there are two."""
    last = getattr(estimator, "second_", None) if isinstance(estimator, rw.TwoStage) else estimator
    return int(getattr(last, "best_iteration_", 0)) if hasattr(last, "result_") else 0


def rehearsed(kind: str, folder: Path) -> Any:
    """Return a kind of training that is ready to be interrupted."""
    return RehearsedStudy(folder) if kind == "tune" else Rehearsed(kind, folder)


def moments(kind: str, seed: int, count: int) -> list[float]:
    """Return when to interrupt, as shares of the time that an undisturbed call takes."""
    rng = random.Random(f"{kind} {seed}")
    return [rng.uniform(0.0, 1.05) for _ in range(count)]


def serve(kind: str, shares: list[float]) -> None:
    """Interrupt training at each moment, and write what was found after each; this runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = os.path.join(name, "temporary")  # other programs have folders elsewhere
        os.mkdir(tempfile.tempdir)
        training = rehearsed(kind, Path(name))
        for share in shares:
            outcome = Outcome()
            training.check(share * training.seconds, outcome)
            print("found", outcome.inside, outcome.kept, "; ".join(outcome.wrong), flush=True)


def run(kind: str, seed: int, count: int) -> Outcome:
    """Interrupt a kind of training at random moments; count a process that dies, and go on with the next moment."""
    total, left_over = Outcome(), moments(kind, seed, count)
    while left_over:
        command = [sys.executable, "-m", "benchmarks.interrupt_training", "--child", kind]
        process = subprocess.Popen(
            [*command, *map(repr, left_over)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        done = 0
        for line in process.stdout:
            if line.startswith("found "):
                _, inside, kept, *wrong = line.rstrip("\n").split(" ", 3)
                total.inside, total.kept = total.inside + int(inside), total.kept + int(kept)
                total.wrong += [text for text in wrong if text]
                done += 1
        if process.wait() != 0:
            total.died += 1
            done += 1
        total.moments += done
        left_over = left_over[done:]
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=300, help="of each kind of training")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        serve(args.child[0], [float(word) for word in args.child[1:]])
        return 0
    print("| training | interrupts | within the call | rounds kept | crashes | anything wrong |")
    print("|---|---:|---:|---:|---:|---:|")
    bad = 0
    for kind in args.kinds:
        found = run(kind, args.seed, args.moments)
        row = (kind, found.moments, found.inside, found.kept, found.died, len(found.wrong))
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        for text in sorted(set(found.wrong)):
            print(f"{kind}: {text}", file=sys.stderr)
        bad += found.died + len(found.wrong)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
