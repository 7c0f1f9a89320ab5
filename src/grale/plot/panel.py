"""The parts of a figure of graphs, and what a look must do to draw them.

A figure asks a look where nodes go, what changed from one graph to the next, how large its panels
are, and to draw each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph, IntArray
from grale.plot.depiction import Shape
from grale.plot.stress import FloatArray


class Marks(NamedTuple):
    """Nodes and edges to highlight, with their colours (#rrggbb)."""

    nodes: Mapping[int, str] = {}
    edges: Mapping[int, str] = {}
    """By index in `graph.edges`."""


class Panel(NamedTuple):
    """One graph of a figure."""

    graph: Graph
    places: FloatArray
    marks: Marks = Marks()
    notes: Sequence[str] | None = None
    """A short text per node."""


class Frame(NamedTuple):
    """What all panels of a figure share, and the part of the plane that each shows."""

    size: tuple[float, float]
    """Width and height in inches."""
    boxes: Sequence[FloatArray]
    """Lower left and upper right corner (2, 2) of each panel."""
    radius: float
    """Of a node that is drawn as a disc."""


@runtime_checkable
class Look(Protocol):
    """How graphs are drawn."""

    def along(
        self, graphs: Sequence[Graph], mappings: Sequence[ArrayLike] | None
    ) -> list[FloatArray]:
        """Positions of a row of graphs; `mappings` as in `layout_along`, None if unrelated."""

    def pair(
        self, first: Graph, second: Graph, mapping: ArrayLike | None, name: str
    ) -> tuple[FloatArray, FloatArray]:
        """Positions of two graphs, matched nodes at the same place; `name` is for errors."""

    def changes(self, graph: Graph, before: Graph, origin: IntArray) -> Marks:
        """What is new in a graph of a row; `origin[i]` is the node that node i continues, or -1."""

    def differences(self, graph: Graph, other: Graph, partners: IntArray) -> Marks:
        """What another graph lacks or labels differently, over all nodes; partners as `origin`."""

    def frame(self, panels: Sequence[Panel]) -> Frame:
        """Size of the panels of a figure, and what they show."""

    def shapes(self, graph: Graph, is_quick: bool = False) -> list[Shape]:
        """The drawing of one graph, for a page; `is_quick` for many graphs, less beautiful."""

    def draw(self, axes: Axes, panel: Panel, box: FloatArray, radius: float) -> None:
        """Draw one panel."""
