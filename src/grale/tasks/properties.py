"""What an edit may change: a number per graph, by name.

    size, edges                          of any graph
    number of NAME                       nodes with the label of that name, if labels have names
    logP, QED, TPSA, weight, rings, ...  of molecules: every descriptor of RDKit by its name
    SA, penalised logP                   of molecules: how hard they are to make, and logP less that

Departures: the paper edits only the size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError
from grale.graphs.molecules.synthesis import penalised_logp, synthetic_accessibility

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Property = Callable[[Graph], float]
"""NaN if the graph does not have the property (an impossible molecule, say)."""

GRAPH_PROPERTIES: dict[str, Property] = {
    "size": lambda graph: float(graph.num_nodes),
    "edges": lambda graph: float(graph.num_edges),
}
NUMBER_OF = "number of "
SYNTHESIS = {"sa": synthetic_accessibility, "penalised logp": penalised_logp}
SHORT_NAMES = {"logp": "MolLogP", "weight": "MolWt", "rings": "RingCount", "qed": "qed"}


def is_property(name: str) -> bool:
    """Whether a property has this name; see `named_property`."""
    try:
        named_property(name)
    except ValueError:
        return False
    return True


def named_property(name: str) -> Property:
    """Find a property by its name; case does not matter.

    >>> named_property("size")(Graph([0, 0]))
    2.0
    """
    if name.lower() in GRAPH_PROPERTIES:
        return GRAPH_PROPERTIES[name.lower()]
    if name.startswith(NUMBER_OF):
        return _number_of(name.removeprefix(NUMBER_OF))
    from rdkit.Chem import Descriptors

    known = {label.lower(): function for label, function in Descriptors.descList} | SYNTHESIS
    wanted = SHORT_NAMES.get(name.lower(), name).lower()
    if wanted not in known:
        close = get_close_matches(wanted, [*known, *GRAPH_PROPERTIES, *SHORT_NAMES], n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(
            f"no property {name!r}{hint} Known: size, edges, 'number of NAME' for a label of your "
            "own graphs, and for molecules logP, QED, TPSA, weight, rings, SA, penalised logP "
            "and the other descriptors of RDKit"
        )
    return _of_molecule(known[wanted])


def _number_of(text: str) -> Property:
    def value(graph: Graph) -> float:
        known = graph.attributes
        if known is None or known.nodes is None:
            raise ValueError(f"no property {NUMBER_OF + text!r}: the labels have no names")
        names = [known.node_text(label) for label in range(len(known.nodes))]
        if text not in names:
            near = get_close_matches(text, names, n=1, cutoff=0.0)
            raise ValueError(f"no node label is called {text!r}; the nearest is {near[0]!r}")
        return float((graph.node_labels == names.index(text)).sum())

    return value


@lru_cache(maxsize=1)
def _molecule_of(graph: Graph) -> Mol:
    """The molecule of a graph, kept for the next property of the same graph."""
    return graph.to_mol()


def _of_molecule(function: Callable[..., float]) -> Property:
    def value(graph: Graph) -> float:
        try:
            return float(function(_molecule_of(graph)))
        except MoleculeError:
            return math.nan

    return value
