"""Two graphs side by side, and which node plays which (not a figure of the paper)."""

from __future__ import annotations

import colorsys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph
from grale.plot.changes import both_ways
from grale.plot.draw import draw_graph, node_radius
from grale.plot.figures import panel_grid
from grale.plot.layout import checked_mapping, layout
from grale.plot.molecule_look import MoleculeLook
from grale.plot.panel import Look, Panel

UNMATCHED = (0.85, 0.85, 0.85)
PANEL = 3.2  # inches
LETTERS = 3  # of a name on a disc


def matching_figure(g1: Graph, g2: Graph, mapping: ArrayLike, look: Look | None = None) -> Figure:
    """Draw both graphs; a node and its partner share a number, and what differs can be seen.

    `mapping[i]` is the node of `g2` for node i of `g1`, or -1. Numbers are those of `g1`.
    Molecules (a `look` for them) have their common core at the same place: atoms and bonds that
    only the first has are red, those that only the second has green, and those with another label
    amber. In other graphs, partners share a colour, and nodes without one are grey;
    the names of labels, if they have any, are each graph's own.
    """
    if isinstance(look, MoleculeLook):
        return _matched_molecules(g1, g2, mapping, look)
    return _matched_graphs(g1, g2, mapping)


def _matched_molecules(g1: Graph, g2: Graph, mapping: ArrayLike, look: MoleculeLook) -> Figure:
    forth, back = both_ways(g1, g2, mapping)
    left, right = look.pair(g1, g2, mapping, "mapping")
    gone, new = look.differences(g1, g2, forth), look.changes(g2, g1, back)
    numbers = [str(node) for node in range(g1.num_nodes)]
    partners = [numbers[node] if node >= 0 else "" for node in back.tolist()]
    panels = [Panel(g1, left, gone, numbers), Panel(g2, right, new, partners)]
    frame = look.frame(panels)
    figure, axes = panel_grid(1, 2, [], frame.size)
    for place, panel, box in zip(axes.flat, panels, frame.boxes):
        look.draw(place, panel, box, frame.radius)
    return figure


def _matched_graphs(g1: Graph, g2: Graph, mapping: ArrayLike) -> Figure:
    partners = checked_mapping(mapping, g1.num_nodes, g2.num_nodes, "mapping")
    left = [*matching_colours(g1.num_nodes)]
    texts = [str(node) for node in range(g1.num_nodes)]
    names = _names(g2)
    right, marks = [UNMATCHED] * g2.num_nodes, [""] * g2.num_nodes
    for node, partner in enumerate(partners.tolist()):
        if partner < 0:
            left[node] = UNMATCHED
        else:
            right[partner], marks[partner] = left[node], texts[node] + names[partner]
    texts = [text + name for text, name in zip(texts, _names(g1))]
    figure = Figure(figsize=(2 * PANEL, PANEL), facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 2)
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.05)
    for axes, graph, colours, text in zip(panels, (g1, g2), (left, right), (texts, marks)):
        points = layout(graph)
        numbered = Graph(np.arange(graph.num_nodes), graph.edges, graph.edge_labels, graph.directed)
        radius = node_radius(points, graph.directed)
        draw_graph(axes, numbered, points, colours, node_text=text, radius=radius)
    return figure


def _names(graph: Graph) -> list[str]:
    """Beginning of the name of each node's label, after a colon; empty if labels have no names."""
    if graph.attributes is None or graph.attributes.nodes is None:
        return [""] * graph.num_nodes
    return [f":{graph.attributes.node_text(k)[:LETTERS]}" for k in graph.node_labels.tolist()]


def matching_colours(count: int) -> list[tuple[float, float, float]]:
    """Colours whose neighbours in the list differ clearly: hues a golden angle apart."""
    return [colorsys.hls_to_rgb(0.618034 * k % 1, (0.45, 0.62)[k % 2], 0.65) for k in range(count)]
