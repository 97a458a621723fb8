"""The trees of a model as arrays, and the plain walk down them."""
