"""Objectives that look at a whole list at once, without pairs."""
