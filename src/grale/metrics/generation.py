"""How good drawn graphs are: valid, distinct, and how large.

A molecule is valid if RDKit accepts it, charges and hydrogens restored, and it is in one piece; a
colouring is valid if the graph is planar, in one piece, and no edge joins nodes of one colour. Of
other graphs, nothing is known but the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic

NUM_COLOURS = 4


class GenerationReport(NamedTuple):
    """Shares over drawn graphs."""

    valid: float
    distinct: float
    """Share of the valid ones that differ from all before them."""
    mean_size: float


def generation_report(graphs: Sequence[Graph], space: GraphSpace) -> GenerationReport:
    """Count valid and distinct graphs."""
    good = [graph for graph in graphs if why_invalid(graph, space) is None]
    seen = SeenGraphs(space)
    num_new = sum(seen.adds(graph) for graph in good)
    sizes = [graph.num_nodes for graph in graphs]
    distinct = num_new / len(good) if good else 0.0
    return GenerationReport(len(good) / len(graphs), distinct, float(np.mean(sizes)))


def why_invalid(graph: Graph, space: GraphSpace) -> str | None:
    """Say why a drawn graph is not valid, or None if it is."""
    if is_molecular(space):
        try:
            graph.to_mol()
        except MoleculeError as error:
            return str(error)
    pieces = num_pieces(graph)
    if pieces != 1:
        return f"it is in {pieces} pieces"
    return why_not_coloured(graph) if is_coloured(space) else None


class SeenGraphs:
    """Graphs so far, to leave out repeats: molecules by SMILES, others up to isomorphism."""

    def __init__(self, space: GraphSpace) -> None:
        self.has_smiles = is_molecular(space)
        self.kinds: dict[object, list[Graph]] = {}

    def adds(self, graph: Graph) -> bool:
        """Remember a valid graph; whether it is new."""
        key = graph.to_smiles() if self.has_smiles else _profile(graph)
        before = self.kinds.setdefault(key, [])
        if before and (self.has_smiles or any(is_isomorphic(graph, other) for other in before)):
            return False
        before.append(graph)
        return True


def _profile(graph: Graph) -> tuple[tuple[int, int], ...]:
    """Label and degree of the nodes, sorted: equal for graphs that are isomorphic."""
    degrees = np.bincount(graph.edges.reshape(-1), minlength=graph.num_nodes).tolist()
    return tuple(sorted(zip(graph.node_labels.tolist(), degrees)))


def is_coloured(space: GraphSpace) -> bool:
    """Whether a space holds colourings."""
    kinds = (space.num_node_labels, space.num_edge_labels, space.directed)
    return kinds == (NUM_COLOURS, 1, False)


def why_not_coloured(graph: Graph) -> str | None:
    """Say why a graph is not a proper colouring of a planar graph, or None if it is."""
    import networkx as nx

    labels = graph.node_labels
    for first, second in graph.edges.tolist():
        if labels[first] == labels[second]:
            return f"nodes {first} and {second} are joined and have the same colour"
    if not nx.check_planarity(graph.to_networkx())[0]:
        return "it is not planar"
    return None


def num_pieces(graph: Graph) -> int:
    """Connected components."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends = graph.edges.reshape(-1, 2)
    shape = (graph.num_nodes, graph.num_nodes)
    joined = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
    return int(connected_components(joined, directed=False)[0])
