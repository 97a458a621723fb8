"""Ready callbacks."""
