import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from strategies import graphs, graphs_in_two_orders, unhurried

PATH = Graph([0, 1, 2], edges=[(0, 1), (1, 2)], edge_labels=[1, 2])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Graph([0, -3, 1]), "node 1 has label -3"),
        (lambda: Graph([0, 0, 0], [(0, 1), (1, 2)], [1, 0]), r"edge 1 \(1, 2\) has label 0"),
        (lambda: Graph([0, 0, 0], [(0, 1), (2, 2)]), "edge 1 is a self-loop on node 2"),
        (lambda: Graph([0, 0], [(0, 1), (1, 2)]), r"edge 1 \(1, 2\) names a missing node"),
        (lambda: Graph([0, 0], [(0, -1)]), r"edge 0 \(0, -1\) names a missing node"),
        (lambda: Graph([0, 0], [(0, 1), (1, 0)], [1, 2]), r"edge \(0, 1\) is listed twice"),
        (lambda: Graph([0, 0], [(1, 0), (1, 0)], [1, 2], True), r"edge \(1, 0\) is listed twice"),
        (lambda: Graph([]), "at least one node"),
        (lambda: Graph([0.0, 1.0]), "node_labels must be integers, got float64"),
        (lambda: Graph([True, False]), "node_labels must be integers, got bool"),
        (lambda: Graph(["a", "b"]), "node_labels must be integers"),
        (lambda: Graph([0, 0], [(0.5, 1.0)]), "edges must be integers, got float64"),
        (lambda: Graph([0, 0], [(0, 1)], [1.5]), "edge_labels must be integers, got float64"),
        (lambda: Graph([[0, 1], [1, 0]]), r"node_labels must be a flat list.*\(2, 2\)"),
        (lambda: Graph(3), r"node_labels must be a flat list.*\(\)"),
        (lambda: Graph([0, 0], [(0, 1)], [[1]]), r"edge_labels must be a flat list.*\(1, 1\)"),
        (lambda: Graph([0, 0], [0, 1]), r"edges must be pairs .* got shape \(2,\)"),
        (lambda: Graph([0, 0, 0], [(0, 1, 2)]), r"edges must be pairs .* got shape \(1, 3\)"),
        (lambda: Graph([0, 0], [(0, 1)], [1, 1]), "1 edges but 2 edge_labels"),
        (lambda: Graph([0, 0], [(0, 1)], []), "1 edges but 0 edge_labels"),
    ],
)
def test_bad_input_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_the_same_edge_listed_twice_is_kept_once():
    graph = Graph([0, 0, 0], [(0, 1), (1, 2), (0, 1)], [2, 3, 2])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_labels.tolist() == [2, 3]


def test_an_undirected_edge_may_be_given_in_both_directions():
    both = Graph([0, 0, 0], [(2, 1), (1, 2), (1, 0)], [3, 3, 2])
    assert both == Graph([0, 0, 0], [(0, 1), (1, 2)], [2, 3])
    assert both.num_edges == 2


def test_directed_edges_in_both_directions_are_two_edges():
    graph = Graph([0, 0], [(1, 0), (0, 1)], [2, 1], directed=True)
    assert graph.num_edges == 2
    assert graph.label_matrix().tolist() == [[0, 1], [2, 0]]


def test_direction_matters_only_in_directed_graphs():
    for directed in (False, True):
        forth = Graph([0, 0], [(0, 1)], directed=directed)
        back = Graph([0, 0], [(1, 0)], directed=directed)
        assert (forth == back) is not directed


@pytest.mark.parametrize("name", ["node_labels", "edges", "edge_labels"])
def test_arrays_cannot_be_written(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(PATH, name)[0] = 5


@pytest.mark.parametrize("name", ["node_labels", "edges", "directed", "colour"])
def test_attributes_cannot_be_set_or_deleted(name):
    with pytest.raises(AttributeError, match=f"immutable.*{name}"):
        setattr(PATH, name, None)
    with pytest.raises(AttributeError, match=f"immutable.*{name}"):
        delattr(PATH, name)


def test_changing_the_arrays_it_was_built_from_does_not_change_a_graph():
    labels, edges, edge_labels = np.array([0, 1, 2]), np.array([[0, 1], [1, 2]]), np.array([1, 2])
    graph = Graph(labels, edges, edge_labels)
    labels[0], edges[0], edge_labels[0] = 7, (0, 2), 7
    assert graph == PATH


@given(graphs())
@unhurried
def test_equal_graphs_have_equal_hashes(graph):
    again = Graph(
        graph.node_labels.tolist(), graph.edges[::-1], graph.edge_labels[::-1], graph.directed
    )
    assert again == graph
    assert hash(again) == hash(graph)
    assert len({again, graph}) == 1


@pytest.mark.parametrize(
    "other",
    [
        Graph([0, 1, 1], [(0, 1), (1, 2)], [1, 2]),
        Graph([0, 1, 2], [(0, 1), (0, 2)], [1, 2]),
        Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 1]),
        Graph([0, 1, 2], [(0, 1)], [1]),
        Graph([0, 1, 2, 0], [(0, 1), (1, 2)], [1, 2]),
        Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2], directed=True),
        "not a graph",
    ],
)
def test_graphs_that_differ_are_not_equal(other):
    assert other != PATH


@given(graphs_in_two_orders())
@unhurried
def test_permuted_lists_old_node_order_i_as_new_node_i(case):
    graph, order = case
    moved = graph.permuted(order)
    assert moved.node_labels.tolist() == graph.node_labels[order].tolist()
    assert np.array_equal(moved.label_matrix(), graph.label_matrix()[order][:, order])
    assert moved.directed == graph.directed


@given(graphs_in_two_orders())
@unhurried
def test_permuting_back_gives_the_graph_again(case):
    graph, order = case
    assert graph.permuted(order).permuted(np.argsort(order)) == graph


def test_permuting_twice_by_a_three_cycle_is_not_the_identity():
    """Control of the test above: the inverse order matters."""
    order = [1, 2, 0]
    assert PATH.permuted(order).permuted(order) != PATH


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [0, 1, 3], np.array([[0, 1, 2]])])
def test_an_order_that_is_not_a_permutation_is_refused(order):
    with pytest.raises(ValueError, match="order must"):
        PATH.permuted(order)


def test_an_order_of_fractions_is_refused():
    with pytest.raises(Exception, match="order"):  # by the shape checks first, where they run
        PATH.permuted([0.2, 1.0, 2.7])


@given(graphs())
@unhurried
def test_label_matrix_gives_the_graph_back(graph):
    matrix = graph.label_matrix()
    assert Graph.from_label_matrix(graph.node_labels, matrix, graph.directed) == graph
    assert np.count_nonzero(matrix) == graph.num_edges * (1 if graph.directed else 2)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [0, 0]], "must be symmetric"),
        ([[0, -1], [-1, 0]], r"edge 0 \(0, 1\) has label -1"),
        ([[2, 0], [0, 0]], "self-loop on node 0"),
        ([[0, 1.5], [1.5, 0]], "must be integers"),
        (np.zeros((3, 3), dtype=int), r"2 nodes must be square, got shape \(3, 3\)"),
        ([[0]], r"2 nodes must be square, got shape \(1, 1\)"),
        ([0, 1], r"2 nodes must be square, got shape \(2,\)"),
    ],
)
def test_a_bad_label_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_label_matrix([0, 0], matrix)


@given(graphs(), st.sampled_from([2, pickle.HIGHEST_PROTOCOL]))
@unhurried
def test_pickle_gives_the_graph_back_still_immutable(graph, protocol):
    again = pickle.loads(pickle.dumps(graph, protocol))
    assert again == graph
    assert hash(again) == hash(graph)
    assert not again.node_labels.flags.writeable


def test_repr_says_how_large_the_graph_is():
    assert repr(PATH) == "Graph(3 nodes, 2 edges)"
    assert repr(Graph([0], directed=True)) == "Graph(directed, 1 nodes, 0 edges)"
