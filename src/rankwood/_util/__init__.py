"""Utilities that know nothing of ranking: checks, text, files, memory, progress."""
