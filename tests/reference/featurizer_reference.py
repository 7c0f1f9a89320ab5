"""Features of one graph as the paper writes them: entry by entry."""

import math

import networkx
import numpy as np


def node_features_reference(graph, num_labels, order):
    """CONCAT[F_0, A F_0, ..., A^order F_0] of shape (n, num_labels * (order + 1))."""
    adjacency = (graph.label_matrix() > 0).astype(float)
    one_hot = np.zeros((graph.num_nodes, num_labels))
    for node, label in enumerate(graph.node_labels):
        one_hot[node, label] = 1
    powers = [np.linalg.matrix_power(adjacency, k) @ one_hot for k in range(order + 1)]
    return np.concatenate(powers, axis=1)


def path_length_reference(graph):
    """Shortest paths of shape (n, n), None where there is none."""
    lengths = dict(networkx.all_pairs_shortest_path_length(graph.to_networkx()))
    nodes = range(graph.num_nodes)
    return [[lengths[i].get(j) for j in nodes] for i in nodes]


def path_encoding_reference(length, dim):
    """Sines, then cosines, of length / 10000^(2k / dim); zero for no path."""
    if length is None:
        return [0.0] * dim
    angles = [length / 10_000 ** (2 * k / dim) for k in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def edge_features_reference(graph, num_labels, num_edge_classes, order, path_dim):
    """CONCAT[F_i, F_j, ONE-HOT(A_ij), PE(SP_ij)] of shape (n, n, width)."""
    nodes = node_features_reference(graph, num_labels, order)
    labels, lengths = graph.label_matrix(), path_length_reference(graph)
    rows = []
    for i in range(graph.num_nodes):
        row = []
        for j in range(graph.num_nodes):
            one_hot = [float(labels[i, j] == c) for c in range(num_edge_classes)]
            path = path_encoding_reference(lengths[i][j], path_dim)
            row.append([*nodes[i], *nodes[j], *one_hot, *path])
        rows.append(row)
    return np.array(rows)
