"""Optimal transport as pure functions: no parameters, no graphs."""
