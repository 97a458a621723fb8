"""Metrics, and the gains and divisors that they are composed of."""
