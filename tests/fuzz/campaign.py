"""Batches of inputs on processes that may die or hang: what happened, and which input it was."""

import importlib
import json
import multiprocessing
import os
import threading
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tests.fuzz import generator, worker
from tests.fuzz.worker import Finding

#: Kinds of input, the share of the time that each gets, and how many make a batch.
KINDS = {"letor": (0.8, 300), "models": (0.12, 60), "specs": (0.05, 200), "trec": (0.03, 200)}
HANG = (
    10.0  # seconds of a processor for one input, or six times as long while other programs have it
)
_START = 600.0  # seconds until the first input of a process: imports, and what must be compiled
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Count:
    """What became of the inputs of a kind."""

    tried: int = 0
    lines: int = 0
    accepted: int = 0
    refused: int = 0
    signals: int = 0
    hangs: int = 0
    foreign: int = 0
    wrong: int = 0
    seconds: float = 0.0

    @property
    def bad(self) -> int:
        """Number of inputs that went wrong."""
        return self.signals + self.hangs + self.foreign + self.wrong


class Process:
    """A process that runs batches; it is replaced when it dies or hangs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    def _start(self) -> None:
        self._connection, other = self._context.Pipe()
        self._at = self._context.Value("q", -1, lock=False)
        args = (other, self._at, str(self._folder))
        self._process = self._context.Process(target=worker.serve, args=args, daemon=True)
        self._process.start()
        other.close()

    def run(self, kind: str, seed: int, first: int, last: int) -> worker.Result:
        """Run a batch; if an input ends the process, those before it and behind it run again in another one."""
        total = worker.Result(0, 0, 0, [])
        todo = [(first, last)]
        while todo:
            first, last = todo.pop()
            if first == last:
                continue
            if self._process is None:
                self._start()
            self._at.value = -1
            self._connection.send((kind, seed, first, last))
            ended = self._wait()
            if isinstance(ended, worker.Result):
                total = worker.Result(*(a + b for a, b in zip(total, ended, strict=True)))
            else:
                index = max(self._at.value, first)
                total.findings.append(Finding(kind, index, *ended))
                todo += [(index + 1, last), (first, index)]
        return total

    def _wait(self) -> worker.Result | tuple[str, str]:
        """Return the result of a batch, or what ended the process."""
        before, since = -1, (time.monotonic(), self._used())
        while True:
            try:
                if self._connection.poll(0.5):
                    return self._connection.recv()
            except (EOFError, OSError):
                pass
            if not self._process.is_alive():
                code = self._process.exitcode
                self.close()
                return "signals", f"exit code {code}"
            if self._at.value != before:
                before, since = self._at.value, (time.monotonic(), self._used())
            wall, used = time.monotonic() - since[0], self._used() - since[1]
            if wall > _START or (before >= 0 and (used > HANG or wall > 6 * HANG)):
                self.close()
                return "hangs", f"{used:.0f} s of a processor, {wall:.0f} s in all"

    def _used(self) -> float:
        """Return the seconds of a processor that the process has had."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


@dataclass
class Campaign:
    """Counts by kind, kept in a folder with the inputs that went wrong; a later run goes on where this one ends."""

    folder: Path
    seed: int
    counts: dict[str, Count] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}
        self._state = self.folder / f"seed-{self.seed}.json"
        if self._state.exists():
            for kind, count in json.loads(self._state.read_text()).items():
                self.counts[kind] = Count(**count)
        for kind, count in self.counts.items():
            self._next[kind] = count.tried

    def run(self, minutes: float, kinds: list[str], jobs: int) -> None:
        """Run batches on several processes until the time is over; the kind that is most behind goes next."""
        end = time.monotonic() + 60 * minutes
        for kind in kinds:
            self.counts.setdefault(kind, Count())
            self._next.setdefault(kind, 0)

        def work() -> None:
            process = Process(self.folder)
            try:
                while time.monotonic() < end:
                    self._one_batch(process, kinds)
            finally:
                process.close()

        threads = [threading.Thread(target=work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _one_batch(self, process: Process, kinds: list[str]) -> None:
        with self._lock:
            kind = min(kinds, key=lambda name: self.counts[name].seconds / KINDS[name][0])
            first = self._next[kind]
            last = self._next[kind] = first + KINDS[kind][1]
            self.counts[
                kind
            ].seconds += 1e-3  # so that two processes don't take the same kind at once
        began = time.monotonic()
        result = process.run(kind, self.seed, first, last)
        with self._lock:
            count = self.counts[kind]
            count.tried += last - first
            count.lines += result.lines
            count.accepted += result.accepted
            count.refused += result.refused
            count.seconds += time.monotonic() - began
            for finding in result.findings:
                setattr(count, finding.what, getattr(count, finding.what) + 1)
                self._keep(finding)
            state = {name: asdict(count) for name, count in self.counts.items()}
            self._state.write_text(json.dumps(state, indent=1))

    def _keep(self, finding: Finding) -> None:
        """Write an input that went wrong, and what happened."""
        place = self.folder / f"{finding.kind}-{self.seed}-{finding.index}"
        module = importlib.import_module(f"tests.fuzz.{finding.kind}")
        data = module.make(generator(finding.kind, self.seed, finding.index))
        place.with_suffix(".input").write_bytes(data)
        place.with_suffix(".txt").write_text(f"{finding.what}: {finding.detail}\n")


def table(counts: dict[str, Count]) -> str:
    """Return the counts as a table in Markdown."""
    head = ["kind", *(column.name for column in fields(Count))]
    rows = [head, ["---"] * len(head)]
    for kind, count in counts.items():
        values = [f"{getattr(count, name):,.0f}" for name in head[1:]]
        rows.append([kind, *values])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
