"""Pages of reproduced items."""
