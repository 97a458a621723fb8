"""Engines: what turns gradients into trees. Nothing else knows one."""
