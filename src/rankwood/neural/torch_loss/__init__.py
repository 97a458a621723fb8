"""Any objective as a loss in PyTorch."""
