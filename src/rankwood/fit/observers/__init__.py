"""What follows a run after each round: evaluation, early stopping, records, progress."""
