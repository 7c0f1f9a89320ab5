"""How similar two graphs are, from 0 to 1.

Molecules: Tanimoto similarity of Morgan fingerprints of radius 2, as usual for edits. Other graphs:
1 - edits / (nodes and edges of both), with the edits of a mapping found by search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import morgan_generator
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace
from grale.matching.local_search import edit_distance_bound


def similarity_to(graph: Graph, space: GraphSpace) -> Callable[[Graph], float]:
    """Function from a valid graph to its similarity to this one."""
    if is_molecular(space):
        from rdkit import DataStructs

        bits = morgan_bits([graph])[0]
        return lambda other: float(DataStructs.TanimotoSimilarity(bits, morgan_bits([other])[0]))
    return lambda other: _by_edits(graph, other)


def morgan_bits(graphs: Sequence[Graph]) -> list[Any]:
    """Morgan fingerprints of molecules, as RDKit's bit vectors."""
    return [morgan_generator().GetFingerprint(graph.to_mol()) for graph in graphs]


def _by_edits(first: Graph, second: Graph) -> float:
    most = first.num_nodes + first.num_edges + second.num_nodes + second.num_edges
    return 1 - edit_distance_bound(first, second).edit_distance / most
