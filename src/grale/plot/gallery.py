"""Rows of graphs with a caption below each: samples, edits and lines, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph
from grale.plot.figures import TEXT_COLOUR
from grale.plot.look import Look
from grale.plot.panel import Panel
from grale.plot.plain_text import plain
from grale.plot.strip import panels_along, panels_from

CAPTION_HEIGHT = 0.34  # inches: two lines
NAME_WIDTH = 0.35  # inches
SMALL = 7


class GalleryRow(NamedTuple):
    """Graphs that belong together."""

    name: str
    """Written beside the row; may be empty."""
    graphs: Sequence[Graph]
    captions: Sequence[str]
    mappings: Sequence[ArrayLike] | None = None
    """As in `grale.plot.strip`: with them, what graphs share keeps its place, and what is new in a
    molecule is marked."""
    from_first: bool = False
    """Whether the mappings lead to the first graph of the row, not to the one before."""

    def panels(self, look: Look) -> list[Panel]:
        """The graphs, placed and marked."""
        if self.from_first and self.mappings is not None:
            return panels_from(self.graphs, self.mappings, look)
        return panels_along(self.graphs, self.mappings, look)


def gallery_figure(rows: Sequence[GalleryRow], look: Look) -> Figure:
    """Draw rows of graphs; shorter rows end earlier."""
    panels = [panel for row in rows if row.graphs for panel in row.panels(look)]
    if not panels:
        raise ValueError("there is nothing to draw; give at least one graph")
    frame = look.frame(panels)
    drawn = iter(zip(panels, frame.boxes))
    panel_width, panel_height = frame.size
    columns = max(len(row.graphs) for row in rows)
    width, each = NAME_WIDTH + panel_width * columns, panel_height + CAPTION_HEIGHT
    figure = Figure(figsize=(width, each * len(rows)), facecolor="white")
    FigureCanvasAgg(figure)
    for place, row in enumerate(rows):
        low = 1 - (place + 1) / len(rows) + CAPTION_HEIGHT / each / len(rows)
        high = panel_height / each / len(rows)
        style = {"size": 9, "color": TEXT_COLOUR, "rotation": 90, "va": "center"}
        plain(figure.text(0.08 / width, low + high / 2, row.name, style))
        for column, caption in zip(range(len(row.graphs)), row.captions):
            left = (NAME_WIDTH + column * panel_width) / width
            axes = figure.add_axes((left, low, panel_width / width, high))
            panel, box = next(drawn)
            look.draw(axes, panel, box, frame.radius)
            style = {"size": SMALL, "color": TEXT_COLOUR, "ha": "center", "va": "top"}
            plain(axes.text(0.5, -0.01, caption, style, transform=axes.transAxes))
    return figure
