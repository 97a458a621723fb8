"""The parts that pairwise objectives are composed of."""
