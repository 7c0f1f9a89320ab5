"""A virtual library of small molecules: scaffolds with substituents.

For demonstrations, tests and predictors without a dataset: thirty thousand drug-like molecules,
built from common parts, in a fixed random order.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import canonical_key, from_smiles

SCAFFOLDS = (
    "c1cc({0})ccc1{1}", "c1cc({0})cc({1})c1", "c1ccc({0})c({1})c1", "c1nc({0})ccc1{1}",
    "c1cnc({0})nc1{1}", "c1c({0})nccc1{1}", "c1c({0})scc1{1}", "c1cc({0})oc1{1}",
    "c1c({0})[nH]cc1{1}", "n1c({0})scc1{1}", "n1n({0})ccc1{1}", "C1CC({0})CCC1{1}",
    "C1CN({0})CCC1{1}", "C1CN({0})CCN1{1}", "C1C({0})COC1{1}", "C1CC({0})CC1{1}", "C({0})C{1}",
    "C({0})CC{1}", "C({0})=C{1}", "O=C({0})C{1}", "O=C(N{0})C{1}", "O=C(O{0})C{1}",
    "c1cc2cc({0})ccc2c({1})c1", "c1cc2cc({0})[nH]c2cc1{1}", "C1C({0})C1{1}", "CC({0})C{1}",
)  # fmt: skip
SUBSTITUENTS = (
    "C", "CC", "C(C)C", "C8CC8", "C(C)(C)C", "CO", "CCO", "OC", "OCC", "O", "N", "NC", "N(C)C",
    "CN", "CCN", "C(=O)O", "C(=O)OC", "C(N)=O", "C(C)=O", "C=O", "C#N", "CC#N", "F", "Cl", "Br",
    "C(F)(F)F", "SC", "S(C)(=O)=O", "S(N)(=O)=O", "[N+](=O)[O-]", "NC(C)=O", "N8CCCC8",
    "N8CCOCC8", "c8ccccc8", "c8ccncc8", "c8ccco8", "c8cccs8", "Cc8ccccc8", "C=C", "C#C",
)  # fmt: skip
SEED = 20


def library_graphs(count: int, max_atoms: int = 16) -> list[Graph]:
    """First distinct molecules of the library with at most `max_atoms` heavy atoms.

    >>> [graph.to_smiles() for graph in library_graphs(2)]
    ['CS(=O)(=O)CC(=O)C=O', 'Oc1cccc(Cc2ccccc2)c1']
    """
    graphs: dict[str, Graph] = {}
    parts = list(product(SCAFFOLDS, SUBSTITUENTS, SUBSTITUENTS))
    for place in np.random.default_rng(SEED).permutation(len(parts)):
        if len(graphs) == count:
            break
        scaffold, first, second = parts[place]
        graph = from_smiles(scaffold.format(first, second))
        if graph.num_nodes <= max_atoms:
            graphs.setdefault(canonical_key(graph), graph)
    return list(graphs.values())
