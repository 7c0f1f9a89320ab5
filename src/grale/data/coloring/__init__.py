"""COLORING: random planar graphs and their four colours (paper: appendix "COLORING")."""
