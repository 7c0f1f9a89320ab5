"""What the labels of molecules stand for, in words."""

from __future__ import annotations

from grale.graphs.attributes import Attributes, Vocabulary
from grale.graphs.molecules.molecule import ELEMENTS, is_molecular
from grale.graphs.space import GraphSpace

BONDS = ("single", "double", "triple", "aromatic")
OF_MOLECULES = Attributes(
    nodes=Vocabulary(
        attributes=("element",),
        kinds=("text",),
        values=tuple((name,) for name in (*ELEMENTS, "other")),
    ),
    edges=Vocabulary(
        attributes=("bond",), kinds=("text",), values=tuple((name,) for name in BONDS)
    ),
)


def names_of(space: GraphSpace) -> Attributes | None:
    """Names of the labels of a space: its own, or elements and bonds; None if there are none.

    >>> from grale.graphs.molecules.molecule import molecule_space
    >>> names_of(molecule_space(9)).node_text(2), names_of(molecule_space(9)).edge_text(4)
    ('O', 'aromatic')
    """
    if space.attributes is None and is_molecular(space):
        return OF_MOLECULES
    return space.attributes
