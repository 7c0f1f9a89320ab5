"""How the graphs of one space are drawn."""

from __future__ import annotations

from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace
from grale.plot.graph_look import GraphLook
from grale.plot.molecule_look import MoleculeLook
from grale.plot.palette import palette_for
from grale.plot.panel import Look


def look_of(space: GraphSpace) -> Look:
    """Molecules as molecules, other graphs as coloured discs."""
    if is_molecular(space):
        return MoleculeLook()
    return GraphLook(palette_for(space.num_node_labels))
