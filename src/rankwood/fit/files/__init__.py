"""Model files and checkpoints: what they hold, and how they are read and written."""
