"""The four colours of COLORING, in the order of the labels (paper: appendix "Datasets")."""

from __future__ import annotations

COLORING_PALETTE: tuple[tuple[float, float, float], ...] = (
    (0.25, 0.25, 0.75),  # blue
    (0.25, 0.75, 0.25),  # green
    (0.75, 0.25, 0.25),  # red
    (1.0, 0.8, 0.4),  # yellow
)
