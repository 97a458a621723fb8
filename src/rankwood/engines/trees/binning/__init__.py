"""Bins of features, and documents as codes of bins."""
