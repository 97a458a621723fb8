"""What ``rankwood train`` and ``rankwood tune`` share: options, files, rankers, the summary."""
