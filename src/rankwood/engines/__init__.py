"""Engines: what turns gradients into trees. Training talks to all of them through `engines.base`."""
