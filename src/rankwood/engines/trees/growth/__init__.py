"""The kernel that grows a tree, and what it is made of."""
