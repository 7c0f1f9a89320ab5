"""How the graphs of one space are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import ELEMENTS, is_molecular
from grale.graphs.space import GraphSpace
from grale.plot.graph_look import GraphLook
from grale.plot.molecule_look import ATOM_PALETTE, MoleculeLook
from grale.plot.palette import Colour, palette_for
from grale.plot.panel import Look

LONGEST_TEXT = 4  # letters on a disc


def name_texts(graph: Graph) -> Sequence[str]:
    """Names of the node labels, cut to what fits on a disc."""
    known = graph.attributes
    texts = [str(k) if known is None else known.node_text(k) for k in graph.node_labels.tolist()]
    return [text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…" for text in texts]


def palette_of(space: GraphSpace) -> Sequence[Colour]:
    """One colour per node label."""
    return ATOM_PALETTE if is_molecular(space) else palette_for(space.num_node_labels)


def texts_of(graph: Graph, space: GraphSpace) -> Sequence[str]:
    """A short text per node: element symbols but for carbon, names of labels, or nothing."""
    if is_molecular(space):
        symbols = ("", *ELEMENTS[1:], "?")
        return [symbols[label] for label in graph.node_labels.tolist()]
    if space.attributes is None or space.attributes.nodes is None:
        return [""] * graph.num_nodes
    return name_texts(space.named(graph))


def look_of(space: GraphSpace) -> Look:
    """Molecules as molecules, other graphs as coloured discs; labels with names show them."""
    if is_molecular(space):
        return MoleculeLook()
    has_names = space.attributes is not None and space.attributes.nodes is not None
    return GraphLook(palette_of(space), name_texts if has_names else None)
