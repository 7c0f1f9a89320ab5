from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import Delaunay

from grale.graphs.graph import Graph


@pytest.fixture(scope="session")
def cell_graph():
    """Adjacency of random cells: planar, connected, four labels."""

    def build(num_nodes: int, seed: int = 0) -> Graph:
        random = np.random.default_rng(seed)
        corners = Delaunay(random.random((num_nodes, 2))).simplices
        edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
        return Graph(random.integers(0, 4, num_nodes), edges)

    return build


@pytest.fixture(scope="session")
def without_edge():
    """Copy of a graph that lacks one edge."""

    def build(graph: Graph, edge: int) -> Graph:
        keep = np.arange(graph.num_edges) != edge
        return Graph(graph.node_labels, graph.edges[keep], graph.edge_labels[keep])

    return build
