"""From an engine's model to a forest."""
