"""Definitions in plain loops. Nothing here imports the package."""
