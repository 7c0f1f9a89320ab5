"""Whole graphs to vectors and back: the GRAph Level autoEncoder."""
