import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.paths import (
    UNREACHABLE,
    diffuse_labels,
    shortest_paths,
    shortest_paths_in_torch,
)
from strategies import generator_from, graph_lists, random_graph, unhurried


def networkx_paths(graph):
    lengths = dict(networkx.all_pairs_shortest_path_length(graph.to_networkx()))
    nodes = range(graph.num_nodes)
    return [[lengths[i].get(j, UNREACHABLE) for j in nodes] for i in nodes]


@pytest.mark.slow
@given(graph_lists(), st.integers(0, 3))
@unhurried
def test_paths_are_those_of_networkx_whatever_the_padding(listed, extra):
    width = max(graph.num_nodes for graph in listed) + extra
    batch = GraphBatch.from_graphs(listed, width)
    paths = shortest_paths(batch.adjacency, batch.node_mask)
    for row, graph in enumerate(listed):
        size = graph.num_nodes
        assert paths[row, :size, :size].tolist() == networkx_paths(graph)
    assert (paths[~batch.edge_mask] == UNREACHABLE).all()


@pytest.mark.parametrize("directed", [False, True])
def test_paths_are_those_of_networkx_on_larger_sparse_graphs(directed):
    rng = np.random.default_rng(0)
    listed = [random_graph(rng, size, directed, 1, 1, 1.5 / size) for size in (20, 30, 40)]
    batch = GraphBatch.from_graphs(listed)
    paths = shortest_paths(batch.adjacency, batch.node_mask)
    for row, graph in enumerate(listed):
        expected = networkx_paths(graph)
        assert paths[row, : graph.num_nodes, : graph.num_nodes].tolist() == expected
        assert UNREACHABLE in np.array(expected)
        assert np.max(expected) > 3


@pytest.mark.parametrize("length", [1, 2, 12])
def test_the_ends_of_a_line_are_as_far_apart_as_it_is_long(length):
    line = Graph([0] * length, [(i, i + 1) for i in range(length - 1)])
    batch = GraphBatch.from_graphs([line])
    paths = shortest_paths(batch.adjacency, batch.node_mask)
    assert paths[0, 0, -1] == length - 1
    assert paths[0, 0, 0] == 0


def test_paths_follow_the_direction_of_edges():
    edges = [(0, 1), (1, 2), (2, 0)]
    there, back = [], []
    for directed in (False, True):
        batch = GraphBatch.from_graphs([Graph([0] * 3, edges, directed=directed)])
        paths = shortest_paths(batch.adjacency, batch.node_mask)[0]
        there.append(int(paths[0, 1]))
        back.append(int(paths[1, 0]))
    assert there == [1, 1]
    assert back == [1, 2]


def test_diffused_labels_are_powers_of_the_adjacency_times_the_labels():
    rng = np.random.default_rng(1)
    listed = [
        random_graph(rng, size, directed=True, num_node_labels=3, num_edge_labels=2, density=0.4)
        for size in (1, 5, 7)
    ]
    batch = GraphBatch.from_graphs(listed)
    labels = torch.randn(3, 7, 4, generator=generator_from(0), dtype=torch.float64)
    found = diffuse_labels(labels, batch.adjacency, order=3)
    adjacency = batch.adjacency.double().numpy()
    powers = [np.linalg.matrix_power(adjacency, k) @ labels.numpy() for k in range(4)]
    assert found.shape == (3, 7, 16)
    # Entries are sums of at most 7^3 numbers of order one, in float64.
    np.testing.assert_allclose(found.numpy(), np.concatenate(powers, axis=-1), rtol=0, atol=1e-11)
    # Control: the transposed adjacency of a directed graph is another answer.
    turned = diffuse_labels(labels, batch.adjacency.transpose(1, 2), order=3)
    assert not torch.allclose(found, turned)


def test_diffusing_to_order_zero_gives_the_labels():
    labels = torch.randn(2, 3, 4, generator=generator_from(0))
    assert torch.equal(diffuse_labels(labels, torch.ones(2, 3, 3).bool(), order=0), labels)


def test_padding_changes_no_diffused_label():
    batch = GraphBatch.from_graphs([Graph([0, 1, 2], [(0, 1), (1, 2)])])
    wide = batch.padded_to(6)
    narrow_labels = torch.nn.functional.one_hot(batch.node_labels, 3).float()
    wide_labels = torch.nn.functional.pad(narrow_labels, (0, 0, 0, 3))
    narrow = diffuse_labels(narrow_labels, batch.adjacency, order=2)
    padded = diffuse_labels(wide_labels, wide.adjacency, order=2)
    assert torch.equal(padded[:, :3], narrow)
    assert not padded[:, 3:].any()


@given(graph_lists(max_nodes=12))
@unhurried
def test_compiled_paths_are_those_of_torch(listed):
    batch = GraphBatch.from_graphs(listed, max(graph.num_nodes for graph in listed) + 1)
    inputs = batch.adjacency, batch.node_mask
    assert torch.equal(shortest_paths(*inputs), shortest_paths_in_torch(*inputs))
