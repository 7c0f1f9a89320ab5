"""What graphs and properties are called in the space of a model.

Labels of a space that is not molecular are not atoms: such graphs have no SMILES and no logP, even
where RDKit would find some.
"""

from __future__ import annotations

from contextlib import suppress

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.graphs.space import GraphSpace
from grale.tasks.properties import GRAPH_PROPERTIES, Property, named_property


def smiles_in(graph: Graph, space: GraphSpace) -> str | None:
    """SMILES, or None if the graph is not a valid molecule or the space is not molecular."""
    if is_molecular(space):
        with suppress(MoleculeError):
            return graph.to_smiles()
    return None


def property_in(name: str, space: GraphSpace) -> Property:
    """The property of that name, or a ValueError if graphs of this space do not have it."""
    found = named_property(name)
    if name.lower() not in GRAPH_PROPERTIES and not is_molecular(space):
        raise ValueError(f"{name} is a property of molecules; use size or edges")
    return found
