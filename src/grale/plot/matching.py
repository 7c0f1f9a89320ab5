"""Two graphs side by side, matched nodes in the same colour (not a figure of the paper)."""

from __future__ import annotations

import colorsys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph
from grale.plot.draw import draw_graph, node_radius
from grale.plot.layout import checked_mapping, layout

UNMATCHED = (0.85, 0.85, 0.85)
PANEL = 3.2  # inches
LETTERS = 3  # of a name on a disc


def matching_figure(g1: Graph, g2: Graph, mapping: ArrayLike) -> Figure:
    """Draw both graphs; a node and its partner share a colour and a number, the others are grey.

    `mapping[i]` is the node of `g2` for node i of `g1`, or -1. Numbers are those of `g1`; the names
    of labels, if they have any, are each graph's own.
    """
    partners = checked_mapping(mapping, g1.num_nodes, g2.num_nodes, "mapping")
    hues = matching_colours(g1.num_nodes)
    left = [*hues[: g1.num_nodes]]
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
