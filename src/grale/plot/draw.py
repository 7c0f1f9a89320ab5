"""Draw one graph (paper: figures of "Qualitative properties of GRALE").

Nodes are discs coloured by label; edges show their label by their strokes: one line, two,
three (as chemists draw bonds), or dashes. Arrows show direction.

Departures: edge widths show the label, not the predicted probability of the edge.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph
from grale.plot.edge_paths import edge_paths
from grale.plot.layout import layout
from grale.plot.palette import shared_palette, text_colour
from grale.plot.plain_text import plain
from grale.plot.stress import FloatArray

MAX_RADIUS = 0.15  # of a node; positions span [-1, 1]
MIN_RADIUS = 0.04
MARGIN = 0.2  # around the outermost positions; room for a disc of MAX_RADIUS and its rim
LINE_WIDTH = 0.16  # of an edge, relative to a node's radius
MAX_POINTS = 2.0  # no plain edge is wider than this
NEIGHBOUR_SHARE = 0.33  # largest radius, relative to the smallest distance between nodes
ARROW_SHARE = 0.26  # the same if an arrow must fit between the discs
MARK_COLOUR = "#d4351c"


@dataclass(frozen=True)
class EdgeStyle:
    """How edges of one label are drawn."""

    strands: int = 1
    """Number of parallel lines; a directed edge is one thicker line instead."""
    dashes: str | tuple[float, tuple[float, ...]] = "solid"
    """Matplotlib's line style: a name, or an offset and lengths on and off."""
    colour: str = "0.45"
    """Any matplotlib colour."""

    def marked(self) -> EdgeStyle:
        """Return the same style in the colour of marked edges."""
        return replace(self, colour=MARK_COLOUR)


EDGE_STYLES: dict[int, EdgeStyle] = {
    1: EdgeStyle(),
    2: EdgeStyle(strands=2),
    3: EdgeStyle(strands=3),
    4: EdgeStyle(dashes=(0.0, (2.2, 1.1))),
}
OTHER_EDGES = EdgeStyle(dashes=(0.0, (0.9, 0.9)))


def draw_graph(
    axes: Axes,
    graph: Graph,
    positions: ArrayLike | None = None,
    palette: Sequence[ColorType] | None = None,
    edge_palette: Mapping[int, EdgeStyle] = EDGE_STYLES,
    node_text: Sequence[str] | None = None,
    radius: float | None = None,
    marked: Collection[int] = (),
    box: ArrayLike | None = None,
) -> None:
    """Draw the graph into `axes`; the frame is removed and both scales are made equal.

    Parameters
    ----------
    axes
        Where to draw. Place it in the figure first: line widths depend on its size.
    graph
        What to draw.
    positions
        Positions (n, 2), ideally within [-1, 1]^2; by default :func:`grale.plot.layout.layout`.
    palette
        Matplotlib colours, one per node label.
    edge_palette
        Style per edge label; other labels are dotted.
    node_text
        Short texts, one per node, written on the discs.
    radius
        Radius of the discs; by default as large as the closest two nodes allow.
    marked
        Indices in `graph.edges` of edges to draw in red.
    box
        Lower left and upper right corner (2, 2) of what the axes show; by default all of [-1, 1]^2
        and all nodes.
    """
    points = layout(graph) if positions is None else np.asarray(positions, dtype=np.float64)
    if points.shape != (graph.num_nodes, 2) or not np.isfinite(points).all():
        raise ValueError(
            f"positions must be finite and of shape ({graph.num_nodes}, 2), got {points.shape}"
        )
    palette = shared_palette([graph]) if palette is None else palette
    if graph.node_labels.max() >= len(palette):
        raise ValueError(
            f"node label {graph.node_labels.max()} has no colour: the palette has {len(palette)}"
        )
    if node_text is not None and len(node_text) != graph.num_nodes:
        raise ValueError(f"{graph.num_nodes} nodes but {len(node_text)} texts; give one per node")
    radius = node_radius(points, graph.directed) if radius is None else radius
    show_box(axes, _box_of(points) if box is None else np.asarray(box))
    scale = points_per_unit(axes)
    styles = [edge_palette.get(label, OTHER_EDGES) for label in graph.edge_labels.tolist()]
    styles = [style.marked() if k in marked else style for k, style in enumerate(styles)]
    draw_edges = _draw_arrows if graph.directed else _draw_lines
    draw_edges(axes, graph, points, styles, radius, scale)
    colours = [to_rgb(palette[label]) for label in graph.node_labels]
    _draw_nodes(axes, points, colours, radius, scale)
    for (x, y), text, colour in zip(points, node_text or (), colours):
        size = radius * scale * (1.2 if len(text) < 2 else 1.9 / len(text))
        style = {"color": text_colour(colour), "ha": "center", "va": "center_baseline"}
        plain(axes.text(x, y, text, style, size=size))


def node_radius(points: FloatArray, directed: bool = False) -> float:
    """Largest radius at which discs stay clearly apart, within limits; smaller with arrows."""
    if len(points) < 2:
        return MAX_RADIUS
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    share = ARROW_SHARE if directed else NEIGHBOUR_SHARE
    closest = distance[np.triu_indices(len(points), k=1)].min()
    return float(np.clip(share * closest, MIN_RADIUS, MAX_RADIUS))


def show_box(axes: Axes, box: FloatArray) -> None:
    """Show the plane between two corners (2, 2), both scales equal, without a frame."""
    (left, bottom), (right, top) = box
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _box_of(points: FloatArray) -> FloatArray:
    low, high = np.minimum(points.min(axis=0), -1), np.maximum(points.max(axis=0), 1)
    return np.stack([low - MARGIN, high + MARGIN])


def points_per_unit(axes: Axes) -> float:
    """Typographic points per unit of length in the drawing."""
    axes.apply_aspect()
    left, right = axes.get_xlim()
    width = axes.get_window_extent().width * 72 / axes.figure.dpi
    return float(width / (right - left))


def _draw_nodes(axes: Axes, points: FloatArray, colours: list, radius: float, scale: float) -> None:
    discs = PatchCollection(
        [Circle((x, y), radius) for x, y in points],
        facecolors=colours,
        edgecolors=[tuple(0.55 * channel for channel in colour) for colour in colours],
        linewidths=min(1.0, 0.1 * radius * scale),
        zorder=3,
    )
    axes.add_collection(discs, autolim=False)


def _draw_lines(
    axes: Axes,
    graph: Graph,
    points: FloatArray,
    styles: Sequence[EdgeStyle],
    radius: float,
    scale: float,
) -> None:
    width = min(MAX_POINTS, LINE_WIDTH * radius * scale)
    spacing = max(0.4 * radius, 2.2 * width / scale)
    for path, style in zip(edge_paths(points, graph.edges, radius), styles):
        along = path[-1] - path[0]
        across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
        offsets = spacing * (np.arange(style.strands) - (style.strands - 1) / 2)
        lines = LineCollection(
            [path + offset * across for offset in offsets],
            colors=style.colour,
            linestyles=[style.dashes],
            linewidths=width,
            capstyle="butt",
            zorder=2 if style.colour == MARK_COLOUR else 1,
        )
        axes.add_collection(lines, autolim=False)


def _draw_arrows(
    axes: Axes,
    graph: Graph,
    points: FloatArray,
    styles: Sequence[EdgeStyle],
    radius: float,
    scale: float,
) -> None:
    pairs = {tuple(edge) for edge in graph.edges.tolist()}
    width = min(MAX_POINTS, LINE_WIDTH * radius * scale)
    for (source, target), style in zip(graph.edges.tolist(), styles):
        bend = 0.2 if (target, source) in pairs else 0.0
        thickness = width * (1 + 0.7 * (style.strands - 1))
        arrow = FancyArrowPatch(
            tuple(points[source]),
            tuple(points[target]),
            arrowstyle="-|>",
            connectionstyle=f"arc3,rad={bend}",
            shrinkA=radius * scale,
            shrinkB=radius * scale,
            mutation_scale=max(4.0, 0.9 * radius * scale, 4 * thickness),
            linewidth=thickness,
            linestyle=style.dashes,
            color=style.colour,
            zorder=1,
        )
        axes.add_patch(arrow)
