"""Molecules as chemists draw them: by RDKit, on a common scale, changes highlighted.

A graph that is not a valid molecule is drawn as a graph of element symbols, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph, IntArray
from grale.graphs.molecules.molecule import ELEMENTS, OTHER
from grale.plot.changes import GONE, NEW, inverse, marks_of
from grale.plot.depiction import Shape, depicted, valid_molecule
from grale.plot.draw import draw_graph, points_per_unit, show_box
from grale.plot.graph_shapes import graph_shapes
from grale.plot.layout import checked_mapping
from grale.plot.molecule_places import carried, molecule_places, places_along
from grale.plot.palette import Colour, palette_for
from grale.plot.panel import Frame, Marks, Panel
from grale.plot.stress import FloatArray

INCHES = 0.19  # per angstrom: bonds of 0.29 inches
MOST_INCHES = 3.4  # width or height of a panel
LEAST_INCHES = 1.25
ROOM = 1.1  # angstroms around the outermost atoms, for their symbols and highlights
LINE_WIDTH = 0.075  # of a bond, in angstroms
RADIUS = 0.42  # of an atom of a graph that is not a molecule
LOOSE = 1.5  # a common box larger than this times the largest molecule helps nobody
INVALID = "not a valid molecule"
INVALID_COLOUR = "#c0392b"

_USUAL: dict[str, Colour] = {
    "C": (0.40, 0.42, 0.45),
    "N": (0.19, 0.36, 0.78),
    "O": (0.80, 0.16, 0.14),
    "F": (0.35, 0.65, 0.30),
    "P": (0.90, 0.52, 0.13),
    "S": (0.93, 0.78, 0.20),
    "Cl": (0.16, 0.58, 0.22),
    "Br": (0.55, 0.22, 0.14),
    "I": (0.45, 0.18, 0.60),
    "B": (0.95, 0.68, 0.60),
    "Si": (0.80, 0.68, 0.47),
}
ATOM_PALETTE: tuple[Colour, ...] = tuple(
    _USUAL.get(symbol, colour) for symbol, colour in zip((*ELEMENTS, "?"), palette_for(OTHER + 1))
)
"""One colour per atom label; the common elements have their usual ones."""

_CODES: dict[str, list[Any]] = {
    "M": [Outline.MOVETO],
    "L": [Outline.LINETO],
    "Q": [Outline.CURVE3] * 2,
    "C": [Outline.CURVE4] * 3,
}


@dataclass(frozen=True)
class MoleculeLook:
    """RDKit's depictions; `notes` gives a small text per atom, such as a number."""

    notes: Callable[[Graph], Sequence[str]] | None = None

    def along(
        self, graphs: Sequence[Graph], mappings: Sequence[ArrayLike] | None
    ) -> list[FloatArray]:
        """The common core of two neighbours keeps its place."""
        if mappings is None:
            return [centred(molecule_places(graph)) for graph in graphs]
        row = places_along(graphs, mappings)
        shift = centred(np.concatenate(row))[0] - row[0][0]  # of the row as a whole
        return [places + shift for places in row]

    def pair(
        self, first: Graph, second: Graph, mapping: ArrayLike | None, name: str
    ) -> tuple[FloatArray, FloatArray]:
        """The common core has the same place in both."""
        places = molecule_places(first)
        if mapping is None:
            return centred(places), centred(molecule_places(second))
        matched = checked_mapping(mapping, first.num_nodes, second.num_nodes, name)
        origin = inverse(matched, second.num_nodes)
        return places, molecule_places(second, carried(places, origin))

    def changes(self, graph: Graph, before: Graph, origin: IntArray) -> Marks:
        """New atoms and bonds are green, those with another label amber."""
        return marks_of(graph, before, origin, NEW)

    def differences(self, graph: Graph, other: Graph, partners: IntArray) -> Marks:
        """Atoms and bonds that the other lacks are red, those with another label amber."""
        return marks_of(graph, other, partners, GONE)

    def frame(self, panels: Sequence[Panel]) -> Frame:
        """One scale for all; the same part of the plane, unless the molecules wander off."""
        lows = np.array([panel.places.min(axis=0) for panel in panels])
        highs = np.array([panel.places.max(axis=0) for panel in panels])
        low, high, largest = lows.min(axis=0), highs.max(axis=0), (highs - lows).max(axis=0)
        middles = np.broadcast_to((low + high) / 2, lows.shape)
        extent = high - low + 2 * ROOM
        if (extent > LOOSE * (largest + 2 * ROOM)).any():
            middles, extent = (lows + highs) / 2, largest + 2 * ROOM
        scale = min(INCHES, float(MOST_INCHES / extent.max()))
        extent = np.maximum(extent, LEAST_INCHES / scale)
        boxes = [np.stack([middle - extent / 2, middle + extent / 2]) for middle in middles]
        width, height = (float(side) for side in extent * scale)
        return Frame((width, height), boxes, RADIUS)

    def shapes(self, graph: Graph, is_quick: bool = False) -> list[Shape]:
        """RDKit's depiction; discs and lines for a graph that is not a valid molecule."""
        places, molecule = molecule_places(graph), valid_molecule(graph)
        if molecule is None:
            return graph_shapes(graph, places, ATOM_PALETTE, atom_texts(graph), RADIUS)
        return depicted(molecule, places, as_letters=True)

    def draw(self, axes: Axes, panel: Panel, box: FloatArray, radius: float) -> None:
        """Draw RDKit's shapes; the graph, and a word about it, if it is not a molecule."""
        molecule = valid_molecule(panel.graph)
        notes = panel.notes
        if notes is None and self.notes is not None:
            notes = self.notes(panel.graph)
        if molecule is None:
            texts = atom_texts(panel.graph)
            draw_graph(
                axes, panel.graph, panel.places, ATOM_PALETTE, node_text=texts, radius=radius,
                marked=panel.marks.edges, box=box,
            )  # fmt: skip
            style = {"size": 7.5, "color": INVALID_COLOUR, "style": "italic"}
            axes.text(0.5, 0.99, INVALID, style, transform=axes.transAxes, ha="center", va="top")
            return
        show_box(axes, box)
        draw_shapes(axes, depicted(molecule, panel.places, *panel.marks, notes))


def draw_shapes(axes: Axes, shapes: Sequence[Shape]) -> None:
    """Draw lines and outlines into axes whose limits are set."""
    width = LINE_WIDTH * points_per_unit(axes)
    for order, shape in enumerate(shapes):
        outline = _outline(shape)
        fill = shape.colour if shape.is_filled else "none"
        stroke, line = ("none", 0.0) if shape.is_filled else (shape.colour, width)
        axes.add_patch(
            PathPatch(
                outline, facecolor=fill, edgecolor=stroke, linewidth=line, capstyle="round",
                joinstyle="round", zorder=2 + order / len(shapes),
            )
        )  # fmt: skip


def atom_texts(graph: Graph) -> Sequence[str]:
    """Element symbols; none for carbon.

    >>> list(atom_texts(Graph([0, 0, 2], [(0, 1), (1, 2)])))
    ['', '', 'O']
    """
    symbols = ("", *ELEMENTS[1:], "?")
    return [symbols[label] for label in graph.node_labels.tolist()]


def centred(places: FloatArray) -> FloatArray:
    """Shift positions so that the middle of their extent is at zero."""
    return places - (places.min(axis=0) + places.max(axis=0)) / 2


def _outline(shape: Shape) -> Outline:
    """A matplotlib path; closing steps need a point of their own there."""
    vertices: list[list[float]] = []
    codes: list[Any] = []
    points = iter(shape.points.tolist())
    for command in shape.commands:
        if command == "Z":
            vertices.append([0.0, 0.0])
            codes.append(Outline.CLOSEPOLY)
            continue
        vertices += [next(points) for _ in _CODES[command]]
        codes += _CODES[command]
    return Outline(vertices, codes)
