"""Molecules in files, and datasets made of them."""
