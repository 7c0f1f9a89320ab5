"""How the graphs of one space are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace
from grale.plot.graph_look import GraphLook
from grale.plot.molecule_look import MoleculeLook
from grale.plot.palette import palette_for
from grale.plot.panel import Look

LONGEST_TEXT = 4  # letters on a disc


def name_texts(graph: Graph) -> Sequence[str]:
    """Names of the node labels, cut to what fits on a disc."""
    known = graph.attributes
    texts = [str(k) if known is None else known.node_text(k) for k in graph.node_labels.tolist()]
    return [text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…" for text in texts]


def look_of(space: GraphSpace) -> Look:
    """Molecules as molecules, other graphs as coloured discs; labels with names show them."""
    if is_molecular(space):
        return MoleculeLook()
    has_names = space.attributes is not None and space.attributes.nodes is not None
    return GraphLook(palette_for(space.num_node_labels), name_texts if has_names else None)
