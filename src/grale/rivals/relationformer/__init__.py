"""Relationformer: objects, and one token for their relations (Shit et al. 2022)."""
