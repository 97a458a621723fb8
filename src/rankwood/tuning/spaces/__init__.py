"""Search spaces: dimensions, spaces, and those with a name."""
