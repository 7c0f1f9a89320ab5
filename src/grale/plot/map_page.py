"""A map as an HTML page: point at a dot and its graph is drawn next to it.

The page holds its data and a short script; it links to nothing and can be mailed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from string import Template

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike

from grale.files import write_whole
from grale.graphs.graph import Graph
from grale.plot.layout import layout
from grale.plot.maps import COLOUR_MAP, checked_points
from grale.plot.palette import shared_palette, text_colour
from grale.plot.stress import FloatArray

TEMPLATE = Path(__file__).with_name("map_page.html")
UNKNOWN = "#bbbbbb"
SCALE = 1000  # positions are sent as whole numbers


def write_map_page(
    path: str | os.PathLike[str],
    title: str,
    points: ArrayLike,
    values: ArrayLike,
    value_name: str,
    graphs: Sequence[Graph],
    *,
    names: Sequence[str] | None = None,
    palette: Sequence[ColorType] | None = None,
    node_texts: Callable[[Graph], Sequence[str]] | None = None,
    place: Callable[[Graph], FloatArray] = layout,
) -> Path:
    """Write the page in one step and return its path.

    Parameters
    ----------
    path, title
        File to write, and heading of the page.
    points, values, value_name
        The map: positions (n, 2), one number each to colour by, and the name of that number.
    graphs
        One per point, drawn when the pointer is on it.
    names
        A line of text per graph, such as its SMILES.
    palette, node_texts
        How nodes look, as in `draw_graph`.
    place
        Gives the positions of a graph's nodes.
    """
    places, numbers = checked_points(points, values)
    if len(graphs) != len(places) or (names is not None and len(names) != len(places)):
        raise ValueError(f"{len(places)} points need {len(places)} graphs and names")
    palette = shared_palette(graphs) if palette is None else palette
    colours = [to_hex(colour) for colour in palette]
    data = {
        "points": _whole(places / (np.abs(places).max() or 1.0)),
        "colours": _value_colours(numbers),
        "values": [f"{value_name}: {value:.4g}" for value in numbers],
        "names": list(names) if names is not None else [""] * len(places),
        "palette": colours,
        "ink": [text_colour(matplotlib.colors.to_rgb(colour)) for colour in colours],
        "graphs": [_compact(graph, place(graph), node_texts) for graph in graphs],
    }
    # "<" is the only character of JSON that could end the script early
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    template = Template(TEMPLATE.read_text(encoding="utf-8"))
    filled = template.substitute(title=escape(title), data=text, count=len(places))
    return write_whole(path, filled.encode())


def _compact(
    graph: Graph, positions: FloatArray, node_texts: Callable[[Graph], Sequence[str]] | None
) -> list[list]:
    """Positions, labels, edges with their labels, and texts of one graph, as short lists."""
    edges = np.column_stack([graph.edges, graph.edge_labels])
    return [
        _whole(positions),
        graph.node_labels.tolist(),
        edges.tolist(),
        list(node_texts(graph)) if node_texts is not None else [],
    ]


def _whole(positions: FloatArray) -> list[list[int]]:
    return (np.asarray(positions) * SCALE).round().astype(int).tolist()


def _value_colours(values: np.ndarray) -> list[str]:
    known = np.isfinite(values)
    low, high = values[known].min(), values[known].max()
    colours = matplotlib.colormaps[COLOUR_MAP]
    shares = (values - low) / (high - low if high > low else 1.0)
    return [to_hex(colours(share)) if ok else UNKNOWN for share, ok in zip(shares, known)]
