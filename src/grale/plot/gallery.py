"""Rows of graphs with a caption below each: samples, edits and lines, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from grale.graphs.graph import Graph
from grale.plot.draw import draw_graph
from grale.plot.figures import PANEL, TEXT_COLOUR
from grale.plot.look import Look

CAPTION_HEIGHT = 0.34  # inches: two lines
NAME_WIDTH = 0.35  # inches
SMALL = 7


class GalleryRow(NamedTuple):
    """Graphs that belong together."""

    name: str
    """Written beside the row; may be empty."""
    graphs: Sequence[Graph]
    captions: Sequence[str]


def gallery_figure(rows: Sequence[GalleryRow], look: Look) -> Figure:
    """Draw rows of graphs; shorter rows end earlier."""
    if not rows or not any(row.graphs for row in rows):
        raise ValueError("there is nothing to draw; give at least one graph")
    columns = max(len(row.graphs) for row in rows)
    width, each = NAME_WIDTH + PANEL * columns, PANEL + CAPTION_HEIGHT
    figure = Figure(figsize=(width, each * len(rows)), facecolor="white")
    for place, row in enumerate(rows):
        bottom = 1 - (place + 1) / len(rows)
        middle = bottom + (CAPTION_HEIGHT + PANEL / 2) / each / len(rows)
        figure.text(0.08 / width, middle, row.name, size=9, color=TEXT_COLOUR, rotation=90,
                    va="center")  # fmt: skip
        for column, (graph, caption) in enumerate(zip(row.graphs, row.captions)):
            low = bottom + CAPTION_HEIGHT / each / len(rows)
            left = (NAME_WIDTH + column * PANEL) / width
            axes = figure.add_axes((left, low, PANEL / width, PANEL / each / len(rows)))
            texts = None if look.node_texts is None else list(look.node_texts(graph))
            draw_graph(axes, graph, look.place(graph), look.palette, node_text=texts)
            axes.text(0.5, -0.01, caption, {"size": SMALL, "color": TEXT_COLOUR},
                      transform=axes.transAxes, ha="center", va="top")  # fmt: skip
    return figure
