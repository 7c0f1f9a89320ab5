"""A graph as shapes, as `grale.plot.depiction` has them for molecules; for pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.typing import ColorType

from grale.graphs.graph import Graph
from grale.plot.depiction import Shape, disc
from grale.plot.draw import EDGE_STYLES, OTHER_EDGES
from grale.plot.palette import text_colour
from grale.plot.stress import FloatArray

EDGE_COLOUR = "#737373"
TEXT_SIZE = 1.2  # of a single letter, relative to the radius
STRAND_GAP = 0.45  # between the lines of one edge, relative to the radius


def graph_shapes(
    graph: Graph,
    places: FloatArray,
    palette: Sequence[ColorType],
    texts: Sequence[str] | None,
    radius: float,
) -> list[Shape]:
    """Lines of the edges, then discs of the nodes with their texts."""
    shapes = []
    for (start, end), label in zip(places[graph.edges], graph.edge_labels.tolist()):
        style = EDGE_STYLES.get(label, OTHER_EDGES)
        along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
        across = STRAND_GAP * radius * np.array([-along[1], along[0]])
        for strand in range(style.strands):
            shift = (strand - (style.strands - 1) / 2) * across
            line = np.stack([start, end]) + shift
            is_dashed = style.dashes != "solid"
            shapes.append(Shape("ML", line, EDGE_COLOUR, is_dashed=is_dashed))
        if graph.directed:
            shapes += _arrow(start, end, along, radius)
    for node, (place, label) in enumerate(zip(places, graph.node_labels.tolist())):
        shapes.append(disc(place, radius, to_hex(palette[label])))
        if texts is not None and texts[node]:
            ink = to_hex(text_colour(to_rgb(palette[label])))
            size = radius * (TEXT_SIZE if len(texts[node]) < 2 else 1.9 / len(texts[node]))
            at = np.asarray(place, dtype=np.float64)[None]
            shapes.append(Shape("M", at, ink, True, texts[node], size, is_centred=True))
    return shapes


def _arrow(start: FloatArray, end: FloatArray, along: FloatArray, radius: float) -> list[Shape]:
    """Two short lines at the end of a directed edge."""
    tip = end - radius * along
    across = np.array([-along[1], along[0]])
    barbs = (tip - 0.6 * radius * (along + side * 0.6 * across) for side in (1, -1))
    return [Shape("ML", np.stack([tip, barb]), EDGE_COLOUR) for barb in barbs]
