"""Fast scoring of documents by a forest."""
