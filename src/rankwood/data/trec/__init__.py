"""Judgments and runs, as TREC files, dictionaries and tables."""
