"""Networks, one module each; `table` has them by name and imports PyTorch when it builds one."""
