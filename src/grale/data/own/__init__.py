"""Graphs of one's own: a reader per format, the attributes of a set, and datasets of them."""
