"""A batch as one graph of many pieces."""

import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.flat import flatten, num_message_kinds, padded
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


def messages(flat):
    return sorted(zip(*flat.ends.tolist(), flat.kinds.tolist()))


def test_nodes_are_numbered_without_padding_and_edges_go_both_ways():
    graphs = [Graph([3], []), Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2])]
    flat = flatten(GraphBatch.from_graphs(graphs, 5), 2)
    assert flat.labels.tolist() == [3, 0, 1, 2]
    assert flat.owner.tolist() == [0, 1, 1, 1]
    assert messages(flat) == [(1, 2, 0), (2, 1, 0), (2, 3, 1), (3, 2, 1)]
    assert flat.num_graphs == 2


def test_what_goes_back_along_a_directed_edge_is_of_another_kind():
    batch = GraphBatch.from_graphs([Graph([0, 1, 2], [(0, 1), (2, 1)], [1, 2], directed=True)])
    assert messages(flatten(batch, 2)) == [(0, 1, 0), (1, 0, 2), (1, 2, 3), (2, 1, 1)]
    space = GraphSpace(max_nodes=3, num_node_labels=3, num_edge_labels=2, directed=True)
    assert num_message_kinds(space) == 4


def test_states_return_to_the_places_of_their_nodes():
    batch = GraphBatch.from_graphs([Graph([3], []), Graph([0, 1], [(0, 1)])], 3)
    states = torch.arange(1.0, 4.0)[:, None]
    assert padded(states, batch.node_mask)[..., 0].tolist() == [[1, 0, 0], [2, 3, 0]]
