"""A row of graphs as SVG: what neighbours share keeps its place, and what is new is marked."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.plot.changes import NEW, marks_of
from grale.plot.depiction import Shape, depicted, disc, valid_molecule
from grale.plot.graph_shapes import graph_shapes
from grale.plot.look import look_of, palette_of, texts_of
from grale.plot.panel import Marks, Panel
from grale.plot.stress import FloatArray
from grale.plot.strip import panels_along
from grale.tasks.interpolate import follow

LINE_WIDTH = 0.009  # of a line, relative to the side of the picture
HALO = 1.3  # of a marked node, relative to its radius


def strip(graphs: Sequence[Graph], model: GRALE) -> list[str]:
    """SVG of each graph; new nodes and edges are green, those with another label amber."""
    if not graphs:
        return []
    mappings = follow(model, graphs)
    panels = panels_along(graphs, mappings, look_of(model.space))
    for step, origin in enumerate(mappings):  # the look of graphs marks nothing along a row
        marks = marks_of(graphs[step + 1], graphs[step], np.asarray(origin), NEW)
        panels[step + 1] = panels[step + 1]._replace(marks=marks)
    frame = look_of(model.space).frame(panels)
    return [
        as_svg(shapes_of(panel, model, frame.radius), box)
        for panel, box in zip(panels, frame.boxes)
    ]


def shapes_of(panel: Panel, model: GRALE, radius: float) -> list[Shape]:
    """A molecule as RDKit draws it; lines and discs for any other graph."""
    graph, places, marks = panel.graph, panel.places, panel.marks
    molecule = valid_molecule(graph) if is_molecular(model.space) else None
    if molecule is not None:
        return depicted(molecule, places, marks.nodes, marks.edges)
    texts = texts_of(graph, model.space)
    drawn = graph_shapes(graph, places, palette_of(model.space), texts, radius)
    return [*halos(graph, places, marks, HALO * radius), *drawn]


def halos(graph: Graph, places: FloatArray, marks: Marks, radius: float) -> list[Shape]:
    """What shines out behind marked edges and nodes."""
    shapes = []
    for edge, colour in marks.edges.items():
        start, end = places[graph.edges[edge]]
        along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
        across = 0.6 * radius * np.array([-along[1], along[0]])
        corners = np.array([start + across, end + across, end - across, start - across])
        shapes.append(Shape("MLLLZ", corners, colour, True))
    return shapes + [disc(places[node], radius, colour) for node, colour in marks.nodes.items()]


def as_svg(shapes: Sequence[Shape], box: FloatArray) -> str:
    """An image of the part of the plane between two corners; y points up."""
    (left, low), (right, high) = box.tolist()
    width, height = right - left, high - low
    line = LINE_WIDTH * max(width, height)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.3f} {height:.3f}">'
    flipped = np.array([1.0, -1.0])
    corner = np.array([left, -high])
    parts = [_element(shape, shape.points * flipped - corner, line) for shape in shapes]
    return "".join([opening, *parts, "</svg>"])


def _element(shape: Shape, points: FloatArray, line: float) -> str:
    if shape.letter:
        (x, y), size = points[0].tolist(), shape.height
        middle = ' text-anchor="middle" dominant-baseline="central"' if shape.is_centred else ""
        style = f'font-size="{size:.3f}" font-family="sans-serif" fill="{shape.colour}"{middle}'
        return f'<text x="{x:.3f}" y="{y:.3f}" {style}>{escape(shape.letter)}</text>'
    left = iter(points.tolist())
    counts = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}
    steps = [
        command
        + " ".join(f"{x:.3f},{y:.3f}" for x, y in (next(left) for _ in range(counts[command])))
        for command in shape.commands
    ]
    if shape.is_filled:
        return f'<path d="{"".join(steps)}" fill="{shape.colour}"/>'
    dashes = f' stroke-dasharray="{3 * line:.3f}"' if shape.is_dashed else ""
    style = f'fill="none" stroke="{shape.colour}" stroke-width="{line:.3f}"{dashes}'
    return f'<path d="{"".join(steps)}" {style} stroke-linecap="round"/>'
