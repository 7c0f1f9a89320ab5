"""Molecules as chemists draw them: element symbols on coloured discs (paper: failure cases).

Departures: bond types are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import ELEMENTS, OTHER, MoleculeError, is_molecular
from grale.graphs.space import GraphSpace
from grale.plot.layout import into_square, layout
from grale.plot.palette import Colour, palette_for
from grale.plot.stress import FloatArray

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
LONGEST_TEXT = 4  # letters on a disc
ATOM_PALETTE: tuple[Colour, ...] = tuple(
    _USUAL.get(symbol, colour) for symbol, colour in zip((*ELEMENTS, "?"), palette_for(OTHER + 1))
)
"""One colour per atom label; the common elements have their usual ones."""


def atom_texts(graph: Graph) -> Sequence[str]:
    """Element symbols; none for carbon.

    >>> list(atom_texts(Graph([0, 0, 2], [(0, 1), (1, 2)])))
    ['', '', 'O']
    """
    symbols = ("", *ELEMENTS[1:], "?")
    return [symbols[label] for label in graph.node_labels.tolist()]


def molecule_layout(graph: Graph) -> FloatArray:
    """Positions as RDKit draws the molecule, or the usual layout for another graph."""
    from rdkit.Chem import rdDepictor

    try:
        molecule = graph.to_mol()
    except MoleculeError:
        return layout(graph)
    rdDepictor.Compute2DCoords(molecule)
    return into_square(np.asarray(molecule.GetConformer().GetPositions())[:, :2])


class Look(NamedTuple):
    """How the graphs of one space are drawn."""

    palette: Sequence[Colour]
    node_texts: Callable[[Graph], Sequence[str]] | None
    place: Callable[[Graph], FloatArray]


def name_texts(graph: Graph) -> Sequence[str]:
    """Names of the node labels, cut to what fits on a disc."""
    known = graph.attributes
    texts = [str(k) if known is None else known.node_text(k) for k in graph.node_labels.tolist()]
    return [text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…" for text in texts]


def look_of(space: GraphSpace) -> Look:
    """Molecules as molecules, other graphs as coloured discs; labels with names show them."""
    if is_molecular(space):
        return Look(ATOM_PALETTE, atom_texts, molecule_layout)
    if space.attributes is not None and space.attributes.nodes is not None:
        return Look(palette_for(space.num_node_labels), name_texts, layout)
    return Look(palette_for(space.num_node_labels), None, layout)
