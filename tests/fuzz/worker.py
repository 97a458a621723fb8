"""A process that runs inputs of any kind, and tells the number of the input that it is at."""

import contextlib
import importlib
import os
import resource
import signal
import sys
from typing import Any, NamedTuple

from rankwood import InputError
from tests.fuzz import Wrong, generator

_MEMORY = 12 << 30  # bytes that a process may ask for


class Finding(NamedTuple):
    """An input that went wrong: its kind and number, what happened, and more about it."""

    kind: str
    index: int
    what: str
    detail: str


class Result(NamedTuple):
    """Numbers of inputs of a batch that were accepted and refused, and those that went wrong.

    `lines` counts all lines of accepted files of lines, and one line of each refused file: that at which it ended.
    """

    accepted: int
    refused: int
    lines: int
    findings: list[Finding]


def batch(kind: str, seed: int, first: int, last: int, at: Any = None) -> Result:
    """Run the inputs `first` to `last - 1` of a kind; `at` gets the number of each before it runs."""
    module = importlib.import_module(f"tests.fuzz.{kind}")
    counts = {"accepted": 0, "refused": 0}
    lines, lines_of = 0, getattr(module, "lines", lambda data: 1)
    findings = []
    getattr(module, "warm_up", lambda: None)()
    with getattr(module, "fast", contextlib.nullcontext)():
        for index in range(first, last):
            if at is not None:
                at.value = index
            data = module.make(generator(kind, seed, index))
            try:
                counts[module.run(data)] += 1
                lines += lines_of(data)
            except InputError as error:
                counts["refused"] += 1
                lines += 1
                if "\n" in str(error) or not str(error).strip():
                    findings.append(Finding(kind, index, "foreign", f"no sentence: {error!r}"))
            except Wrong as error:
                findings.append(Finding(kind, index, "wrong", str(error)[:500]))
            except Exception as error:
                findings.append(Finding(kind, index, "foreign", repr(error)[:500]))
    return Result(counts["accepted"], counts["refused"], lines, findings)


def serve(connection: Any, at: Any, folder: str) -> None:
    """Run batches until the parent ends."""
    os.environ["RANKWOOD_FUZZ_BASES"] = folder
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(quiet, stream.fileno())  # engines print what they think of a file
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(batch(*task, at=at))
