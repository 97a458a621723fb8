"""The former place of `rankwood.diagnostics`, kept for one release."""

from rankwood.diagnostics import Diagnosis, diagnose, heat, pair_counts

__all__ = ["Diagnosis", "diagnose", "heat", "pair_counts"]
