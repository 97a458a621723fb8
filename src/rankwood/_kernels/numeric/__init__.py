"""Arithmetic that is bit-identical on every processor: functions, sums, sorts, random numbers."""
