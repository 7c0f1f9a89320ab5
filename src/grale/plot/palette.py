"""Colours of node labels (paper: appendix "Datasets", COLORING has four colours).

Departures: molecules are not coloured by atomic number by default; pass a palette.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence

from grale.data.coloring.palette import COLORING_PALETTE
from grale.graphs.graph import Graph

Colour = tuple[float, float, float]

CATEGORICAL_PALETTE: tuple[Colour, ...] = (
    (0.40, 0.42, 0.45),  # grey, for the first and most common label
    (0.84, 0.24, 0.22),  # red
    (0.20, 0.42, 0.78),  # blue
    (0.96, 0.77, 0.22),  # yellow
    (0.22, 0.63, 0.36),  # green
    (0.56, 0.34, 0.71),  # violet
    (0.95, 0.55, 0.20),  # orange
    (0.30, 0.75, 0.80),  # cyan
    (0.91, 0.56, 0.72),  # pink
    (0.53, 0.36, 0.24),  # brown
    (0.68, 0.82, 0.35),  # lime
    (0.13, 0.20, 0.42),  # navy
)


def palette_for(num_labels: int) -> tuple[Colour, ...]:
    """One colour per label: COLORING's for up to four labels, otherwise a categorical palette.

    >>> palette_for(3) == COLORING_PALETTE[:3], len(palette_for(40))
    (True, 40)
    """
    if num_labels <= len(COLORING_PALETTE):
        return COLORING_PALETTE[:num_labels]
    extra = range(len(CATEGORICAL_PALETTE), num_labels)
    return CATEGORICAL_PALETTE[:num_labels] + tuple(
        colorsys.hls_to_rgb(0.618034 * k % 1, (0.35, 0.55, 0.75)[k % 3], 0.55) for k in extra
    )


def shared_palette(graphs: Iterable[Graph]) -> tuple[Colour, ...]:
    """Palette for several graphs drawn together, so that a label has one colour."""
    return palette_for(max((int(graph.node_labels.max()) + 1 for graph in graphs), default=0))


def text_colour(background: Sequence[float]) -> str:
    """Black or white, whichever is easier to read on `background`.

    >>> text_colour((1.0, 0.8, 0.4)), text_colour((0.25, 0.25, 0.75))
    ('black', 'white')
    """
    luminance = sum(w * c**2.2 for w, c in zip((0.2126, 0.7152, 0.0722), background))
    return "black" if luminance > 0.3 else "white"
