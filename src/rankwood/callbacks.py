"""Callbacks of `fit`: functions that are called after each round of training, and ready ones.

A callback takes a `Round`, and ends training by returning True. If it has a method `close()`, that is called when
training is over, whatever ended it.
"""

from rankwood.fit.callbacks.curve import LiveCurve
from rankwood.fit.callbacks.records import CSV, Log
from rankwood.fit.callbacks.trackers import MLflow, OptunaPruning, TensorBoard
from rankwood.fit.context import Round

__all__ = ["CSV", "LiveCurve", "Log", "MLflow", "OptunaPruning", "Round", "TensorBoard"]
