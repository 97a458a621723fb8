"""Estimators: what trains a model, watches it, and writes it to a file."""
