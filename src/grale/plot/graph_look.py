"""Graphs as coloured discs and lines (paper: figures of "Qualitative properties of GRALE")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph, IntArray
from grale.plot.changes import GONE, differing_edges
from grale.plot.depiction import Shape
from grale.plot.draw import MARGIN, draw_graph, node_radius
from grale.plot.graph_shapes import graph_shapes
from grale.plot.layout import checked_mapping, into_square, layout, layout_along, layout_around
from grale.plot.palette import shared_palette
from grale.plot.panel import Frame, Marks, Panel
from grale.plot.stress import FloatArray

SKETCH = 4.0  # angstroms from the middle of a drawing on a page to its end
PANEL = 1.9  # inches; width and height of one graph
NodeTexts = Callable[[Graph], Iterable[str]]


@dataclass(frozen=True)
class GraphLook:
    """Discs coloured by node label; `palette` and `node_texts` as in `draw_graph`."""

    palette: Sequence[ColorType] | None = None
    """One colour per node label; by default one that suits up to four labels, or more."""
    node_texts: NodeTexts | None = None
    """Gives the texts on the nodes of a graph."""

    def along(
        self, graphs: Sequence[Graph], mappings: Sequence[ArrayLike] | None
    ) -> list[FloatArray]:
        """Nodes stay near their place along the row."""
        if mappings is None:
            return [layout(graph) for graph in graphs]
        return layout_along(graphs, mappings)

    def pair(
        self, first: Graph, second: Graph, mapping: ArrayLike | None, name: str
    ) -> tuple[FloatArray, FloatArray]:
        """Matched nodes have exactly the same place, the others are put around them."""
        above = layout(first)
        if mapping is None:
            return above, layout(second)
        matched = checked_mapping(mapping, first.num_nodes, second.num_nodes, name)
        known = np.full((second.num_nodes, 2), np.nan)
        known[matched[matched >= 0]] = above[matched >= 0]
        both = into_square(np.concatenate([above, layout_around(second, known)]))
        return both[: first.num_nodes], both[first.num_nodes :]

    def changes(self, graph: Graph, before: Graph, origin: IntArray) -> Marks:
        """Nothing is marked along a row of graphs."""
        return Marks()

    def differences(self, graph: Graph, other: Graph, partners: IntArray) -> Marks:
        """Edges that differ; nodes show their label by their colour."""
        return Marks({}, dict.fromkeys(differing_edges(graph, other, partners), GONE))

    def frame(self, panels: Sequence[Panel]) -> Frame:
        """Squares in which all positions have room."""
        low = np.min([panel.places.min(axis=0) for panel in panels], axis=0)
        high = np.max([panel.places.max(axis=0) for panel in panels], axis=0)
        box = np.stack([np.minimum(low, -1) - MARGIN, np.maximum(high, 1) + MARGIN])
        radius = min(node_radius(panel.places, panel.graph.directed) for panel in panels)
        return Frame((PANEL, PANEL), [box] * len(panels), radius)

    def shapes(self, graph: Graph, is_quick: bool = False) -> list[Shape]:
        """Discs and lines on the scale of molecules."""
        palette = shared_palette([graph]) if self.palette is None else self.palette
        texts = None if self.node_texts is None else list(self.node_texts(graph))
        start = None
        if is_quick:
            angle = 2 * np.pi * np.arange(graph.num_nodes) / graph.num_nodes
            start = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        places = SKETCH * layout(graph, start=start)
        radius = node_radius(places / SKETCH, graph.directed) * SKETCH
        return graph_shapes(graph, places, palette, texts, radius)

    def draw(self, axes: Axes, panel: Panel, box: FloatArray, radius: float) -> None:
        """Draw discs and lines; marked edges are red."""
        texts = panel.notes
        if texts is None and self.node_texts is not None:
            texts = list(self.node_texts(panel.graph))
        draw_graph(
            axes,
            panel.graph,
            panel.places,
            shared_palette([panel.graph]) if self.palette is None else self.palette,
            node_text=texts,
            radius=radius,
            marked=panel.marks.edges,
            box=box,
        )
