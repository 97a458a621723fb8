"""Timing contenders side by side: interleaved rounds, the best of each, and the spread."""

import gc
import time
from collections.abc import Callable


def interleave(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Run every contender once per round, in turn, and return all seconds; the first round only warms up.

    Every other round goes backwards: what a contender leaves in memory and caches changes the time of the next.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    gc.disable()
    try:
        for round_ in range(rounds + 1):
            order = list(contenders.items())
            for name, run in reversed(order) if round_ % 2 else order:
                start = time.perf_counter()
                run()
                if round_:
                    seconds[name].append(time.perf_counter() - start)
    finally:
        gc.enable()
    return seconds


def spread(seconds: list[float]) -> str:
    """Return best, median and worst, in milliseconds."""
    ordered = sorted(seconds)
    return " / ".join(
        f"{1e3 * s:.1f}" for s in (ordered[0], ordered[len(ordered) // 2], ordered[-1])
    )
