"""What differs between two graphs whose nodes are matched, and the colours that show it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph, IntArray
from grale.plot.layout import checked_mapping
from grale.plot.panel import Marks

CHANGED = "#ffd98a"  # amber: another label than its partner
NEW = "#b9e4b4"  # green: only here, and new
GONE = "#f6b5ae"  # red: only here, and missing in the other graph


def marks_of(graph: Graph, other: Graph, partners: IntArray, only_here: str) -> Marks:
    """Amber for another label; another colour for what the other graph does not have."""
    nodes = dict.fromkeys(differing_nodes(graph, other, partners), CHANGED)
    nodes |= {node: only_here for node in nodes if partners[node] < 0}
    edges = dict.fromkeys(differing_edges(graph, other, partners), CHANGED)
    edges |= dict.fromkeys(missing_edges(graph, other, partners), only_here)
    return Marks(nodes, edges)


def differing_edges(graph: Graph, other: Graph, partners: IntArray) -> list[int]:
    """Indices of edges that the other graph lacks or labels differently.

    `partners[i]` is the node of `other` for node i of `graph`, or -1.
    """
    return np.flatnonzero(_labels_there(graph, other, partners) != graph.edge_labels).tolist()


def missing_edges(graph: Graph, other: Graph, partners: IntArray) -> list[int]:
    """Indices of edges that the other graph does not have with any label."""
    return np.flatnonzero(_labels_there(graph, other, partners) == 0).tolist()


def differing_nodes(graph: Graph, other: Graph, partners: IntArray) -> list[int]:
    """Nodes without a partner, or whose partner has another label."""
    there = np.where(partners >= 0, other.node_labels[partners], -1)
    return np.flatnonzero(there != graph.node_labels).tolist()


def both_ways(g1: Graph, g2: Graph, mapping: ArrayLike) -> tuple[IntArray, IntArray]:
    """A checked mapping from the first graph to the second, and back."""
    forth = checked_mapping(mapping, g1.num_nodes, g2.num_nodes, "mapping")
    return forth, inverse(forth, g2.num_nodes)


def inverse(mapping: IntArray, num_nodes: int) -> IntArray:
    """The mapping the other way; -1 for nodes that nothing is mapped to.

    >>> inverse(np.array([2, -1, 0]), 3).tolist()
    [2, -1, 0]
    """
    back = np.full(num_nodes, -1)
    back[mapping[mapping >= 0]] = np.flatnonzero(mapping >= 0)
    return back


def _labels_there(graph: Graph, other: Graph, partners: IntArray) -> IntArray:
    """Labels in the other graph of the edges of a graph; 0 for edges it lacks."""
    ends = partners[graph.edges]
    labels = other.label_matrix()[ends[:, 0], ends[:, 1]]
    return np.where((ends >= 0).all(axis=1), labels, 0)
