"""One fit, from its specification to its result."""
