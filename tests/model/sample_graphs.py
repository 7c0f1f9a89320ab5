"""Graphs whose nodes are hard to tell apart, and ways to list their nodes anew."""

import networkx
import torch

from grale.graphs.graph import Graph
from grale.graphs.permute import gather_edges, gather_nodes, permute_batch
from grale.model.featurizer import GraphInputs

SYMMETRIC = {
    "one node": networkx.empty_graph(1),
    "no edges": networkx.empty_graph(5),
    "pair": networkx.path_graph(2),
    "path": networkx.path_graph(7),
    "triangle": networkx.cycle_graph(3),
    "cycle of 6": networkx.cycle_graph(6),
    "cycle of 11": networkx.cycle_graph(11),
    "complete of 5": networkx.complete_graph(5),
    "complete of 12": networkx.complete_graph(12),
    "star": networkx.star_graph(6),
    "Petersen": networkx.petersen_graph(),
    "cube": networkx.hypercube_graph(3),
    "bipartite": networkx.complete_bipartite_graph(3, 4),
    "two triangles": networkx.disjoint_union(networkx.cycle_graph(3), networkx.cycle_graph(3)),
    "cycle and path": networkx.disjoint_union(networkx.cycle_graph(5), networkx.path_graph(4)),
}
"""At most 12 nodes each, unlabelled."""


def symmetric_graphs():
    """All but the largest clique, whose canonical order takes long."""
    largest = SYMMETRIC["complete of 12"]
    return [Graph.from_networkx(graph) for graph in SYMMETRIC.values() if graph is not largest]


def shuffled(graph, rng):
    """The same graph with its nodes listed in a random order."""
    return graph.permuted(rng.permutation(graph.num_nodes))


def with_odd_edges(graphs, rng, count, num_edge_labels):
    """The same graphs with so many edges set at random: unlike any that was trained on."""
    changed = []
    for graph in graphs:
        matrix = graph.label_matrix()
        for _ in range(count):
            first, second = rng.choice(graph.num_nodes, 2, replace=False)
            matrix[first, second] = matrix[second, first] = rng.integers(1, num_edge_labels + 1)
        changed.append(Graph.from_label_matrix(graph.node_labels, matrix))
    return changed


def random_orders(batch, generator):
    """One random order of all columns per graph, padding included."""
    keys = torch.rand(batch.node_mask.shape, generator=generator)
    orders = keys.argsort(dim=1)
    assert (orders != torch.arange(orders.shape[1])).any()
    return orders


def permuted_inputs(inputs, orders):
    """The same features, their nodes listed in another order."""
    return GraphInputs(
        permute_batch(inputs.graphs, orders),
        gather_nodes(inputs.node_feats, orders),
        gather_nodes(inputs.noise, orders),
        gather_edges(inputs.path_code, orders),
        inputs.path_table,
    )
