"""Models compared query by query: numbers, and their tables."""
