"""Axes with round numbers, for pictures that are drawn without a plotting library."""

import math
from collections.abc import Iterable
from typing import NamedTuple


class Axis(NamedTuple):
    """A range of numbers with ticks at round ones."""

    start: float
    end: float
    ticks: tuple[float, ...]

    def share(self, x: float) -> float:
        """Return where a number lies between start (0) and end (1)."""
        return (x - self.start) / (self.end - self.start)

    def holds(self, *numbers: float) -> bool:
        """Return whether all numbers lie on the axis; NaN doesn't."""
        return all(self.start <= x <= self.end for x in numbers)


def axis_of(numbers: Iterable[float], steps: int = 3) -> Axis:
    """Return an axis that holds all finite numbers, and about `steps` steps between its ticks."""
    finite = [x for x in numbers if math.isfinite(x)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    if not math.isfinite(high - low) or low == high:
        half = abs(low) / 2 or 0.5
        low, high = (low - half, high + half) if math.isfinite(high - low) else (-1.0, 1.0)
    step = _round_step((high - low) / steps)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Multiples divided by a power of ten are as near to the decimal number as a float can be.
    ticks = (_multiple(i, step) for i in range(first, last + 1))
    return Axis(low, high, tuple(tick for tick in ticks if low <= tick <= high))


def _round_step(width: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the smallest that is at least `width`."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= width * (1 - 1e-9))


def _multiple(i: int, step: float) -> float:
    return float(f"{i * step:.12g}") + 0.0


def tick_text(x: float) -> str:
    """Return the label of a tick, with a minus sign that is as wide as a plus."""
    return f"{x:g}".replace("-", "−")
