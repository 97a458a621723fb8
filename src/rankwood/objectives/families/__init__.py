"""Objectives by name, family by family."""
