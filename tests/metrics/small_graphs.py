"""Small random graphs and their networkx twins, for the tests of this folder."""

from itertools import permutations

import networkx
import numpy as np
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from strategies import graphs as any_graphs


def graphs(directed, max_nodes=6):
    """Graphs of few labels, so that two of them are often alike."""
    return any_graphs(directed, max_nodes, num_node_labels=2, num_edge_labels=2)


@st.composite
def pairs(draw, max_nodes=6):
    directed = draw(st.booleans())
    return draw(graphs(directed, max_nodes)), draw(graphs(directed, max_nodes))


@st.composite
def mapped_pairs(draw, max_nodes=6):
    """Two graphs and a mapping that may delete nodes and insert others."""
    g1, g2 = draw(pairs(max_nodes))
    partners = draw(st.permutations(range(max(g1.num_nodes, g2.num_nodes))))
    dropped = draw(st.sets(st.integers(0, g1.num_nodes - 1)))
    mapping = [
        -1 if node in dropped or partner >= g2.num_nodes else partner
        for node, partner in enumerate(partners[: g1.num_nodes])
    ]
    return g1, g2, np.array(mapping)


def nearly(graph, rng):
    """The graph in another order, with one edge moved to another place, or one label traded."""
    matrix, labels = graph.label_matrix(), graph.node_labels.copy()
    nodes = rng.permutation(graph.num_nodes)
    if graph.num_nodes >= 3 and rng.random() < 0.5:
        i, j, k = nodes[:3]
        matrix[i, j], matrix[i, k] = matrix[i, k], matrix[i, j]
        if not graph.directed:
            matrix[j, i], matrix[k, i] = matrix[i, j], matrix[i, k]
    else:
        i, j = nodes[0], nodes[-1]
        labels[i], labels[j] = labels[j], labels[i]
    changed = Graph.from_label_matrix(labels, matrix, graph.directed)
    return changed.permuted(rng.permutation(graph.num_nodes))


def to_networkx(graph):
    converted = networkx.DiGraph() if graph.directed else networkx.Graph()
    converted.add_nodes_from((i, {"label": int(x)}) for i, x in enumerate(graph.node_labels))
    converted.add_edges_from(
        (i, j, {"label": label})
        for (i, j), label in zip(graph.edges.tolist(), graph.edge_labels.tolist())
    )
    return converted


def same_label(first, second):
    return first["label"] == second["label"]


def complete_mappings(g1, g2):
    """Every mapping that leaves no node of the smaller graph without a partner."""
    for partners in permutations(range(max(g1.num_nodes, g2.num_nodes)), g1.num_nodes):
        yield np.array([j if j < g2.num_nodes else -1 for j in partners])
