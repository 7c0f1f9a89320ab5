"""Layers that know tensors, not graphs (paper: appendix "Definitions of attention blocks")."""
