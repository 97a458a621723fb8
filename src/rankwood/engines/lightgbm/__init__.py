"""Engines on LightGBM."""
