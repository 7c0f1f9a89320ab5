"""Which nodes of a graph can take each other's place (paper: appendix on failure cases).

Two nodes are in one orbit if some isomorphism of the graph onto itself maps one to the other.
Nodes of a large orbit look alike to the matcher, and the autoencoder fails there.

Departures: orbits are exact; the paper uses the Weisfeiler-Leman test.
"""

from __future__ import annotations

import numpy as np

from grale.graphs.graph import Graph, IntArray
from grale.metrics.isomorphism import is_isomorphic


def orbits(graph: Graph) -> list[list[int]]:
    """Sets of nodes that the symmetries of the graph map to each other, each sorted.

    >>> orbits(Graph([0, 1, 0], edges=[(0, 1), (1, 2)]))
    [[0, 2], [1]]
    """
    found: list[list[int]] = []
    marked: list[Graph] = []
    for node in range(graph.num_nodes):
        candidate = _with_mark(graph, node)
        for orbit, first in zip(found, marked):
            if is_isomorphic(candidate, first):
                orbit.append(node)
                break
        else:
            found.append([node])
            marked.append(candidate)
    return found


def orbit_sizes(graph: Graph) -> IntArray:
    """Size of each node's orbit; all ones if there is no symmetry.

    >>> orbit_sizes(Graph([0, 0, 0], edges=[(0, 1)])).tolist()
    [2, 2, 1]
    """
    sizes = np.ones(graph.num_nodes, dtype=np.int64)
    for orbit in orbits(graph):
        sizes[orbit] = len(orbit)
    return sizes


def _with_mark(graph: Graph, node: int) -> Graph:
    """The graph with one node made different from all others."""
    labels = 2 * graph.node_labels
    labels[node] += 1
    return Graph.trusted(labels, graph.edges, graph.edge_labels, graph.directed)
