"""Recipes: what papers did and printed, as TOML files, and how they are read."""
