"""Callbacks of `fit`: functions that are called after each round of training, and ready ones.

A callback takes a `Round`, and ends training by returning True. If it has a method `close()`, that is called when
training is over, whatever ended it.
"""

from rankwood.callbacks.curve import LiveCurve
from rankwood.callbacks.records import CSV, Log
from rankwood.callbacks.trackers import MLflow, OptunaPruning, TensorBoard
from rankwood.training.context import Round

__all__ = ["CSV", "LiveCurve", "Log", "MLflow", "OptunaPruning", "Round", "TensorBoard"]
