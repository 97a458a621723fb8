"""Search for parameters: `tune`, its result, and the optimisers behind it."""

from rankwood.tuning.result import Tuning, TuningInterrupt
from rankwood.tuning.study import tune

__all__ = ["Tuning", "TuningInterrupt", "tune"]
