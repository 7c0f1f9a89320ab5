import time
from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from grale.metrics.isomorphism import _twin_ranks, is_isomorphic, isomorphism_accuracy
from metrics.small_graphs import (
    graphs,
    nearly,
    pairs,
    same_label,
    to_networkx,
)
from strategies import random_graph, unhurried


def networkx_says(g1, g2):
    return networkx.is_isomorphic(to_networkx(g1), to_networkx(g2), same_label, same_label)


def unlabelled(graph, rng):
    """A Graph from networkx, all labels equal, nodes in random order."""
    graph = networkx.convert_node_labels_to_integers(graph)
    return Graph([0] * len(graph), list(graph.edges)).permuted(rng.permutation(len(graph)))


def cycles(*lengths):
    return networkx.disjoint_union_all([networkx.cycle_graph(length) for length in lengths])


def shrikhande():
    """A graph that colour refinement cannot tell from the line graph of K_4,4."""
    nodes = list(product(range(4), range(4)))
    steps = [(0, 1), (1, 0), (1, 1)]
    return networkx.Graph(
        ((i, j), ((i + a) % 4, (j + b) % 4)) for (i, j), (a, b) in product(nodes, steps)
    )


@pytest.mark.slow
@unhurried
@given(pairs(max_nodes=4))
def test_two_graphs_are_judged_as_by_networkx(pair):
    assert is_isomorphic(*pair) == networkx_says(*pair)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("num_labels", "density"), [(1, 0.3), (2, 0.5), (3, 0.15)])
def test_near_misses_are_judged_as_by_networkx(directed, num_labels, density):
    rng = np.random.default_rng(0)
    answers, connected = [], []
    for _ in range(80):
        graph = random_graph(rng, rng.integers(3, 9), directed, num_labels, num_labels, density)
        other = nearly(graph, rng)
        answers.append(is_isomorphic(graph, other))
        connected.append(networkx.is_connected(networkx.Graph(to_networkx(graph))))
        assert answers[-1] == networkx_says(graph, other)
    assert set(answers) == {False, True}
    assert set(connected) == {False, True}


@pytest.mark.slow
@unhurried
@given(st.data(), st.booleans())
def test_a_reordered_graph_is_isomorphic_to_the_original(data, directed):
    graph = data.draw(graphs(directed, max_nodes=8))
    order = data.draw(st.permutations(range(graph.num_nodes)))
    assert is_isomorphic(graph, graph.permuted(order))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cycles(3, 3), cycles(6)),
        (cycles(3, 3, 4, 4), cycles(6, 8)),
        (networkx.line_graph(networkx.complete_bipartite_graph(4, 4)), shrikhande()),
    ],
)
def test_graphs_that_colour_refinement_confuses_are_told_apart(first, second):
    rng = np.random.default_rng(0)
    assert not is_isomorphic(unlabelled(first, rng), unlabelled(second, rng))
    assert is_isomorphic(unlabelled(first, rng), unlabelled(first, rng))
    assert is_isomorphic(unlabelled(second, rng), unlabelled(second, rng))


def test_complete_graphs_whose_edge_labels_hide_different_cycles_are_told_apart():
    rng = np.random.default_rng(0)

    def complete(*lengths):
        matrix = 2 - networkx.to_numpy_array(cycles(*lengths), dtype=np.int64)
        np.fill_diagonal(matrix, 0)
        return Graph.from_label_matrix([0] * 10, matrix).permuted(rng.permutation(10))

    assert not is_isomorphic(complete(5, 5), complete(10))
    assert is_isomorphic(complete(5, 5), complete(5, 5))
    assert is_isomorphic(complete(10), complete(10))


@pytest.mark.parametrize(
    "rest",
    [networkx.star_graph(14), networkx.complete_graph(12), networkx.complete_bipartite_graph(7, 7)],
    ids=["star", "clique", "bipartite"],
)
def test_many_twins_do_not_make_the_search_explode(rest):
    rng = np.random.default_rng(0)
    first, second = (
        unlabelled(networkx.disjoint_union(cycles(*lengths), rest), rng)
        for lengths in ((3, 3), (6,))
    )
    start = time.perf_counter()
    assert not is_isomorphic(first, second)
    assert time.perf_counter() - start < 2  # milliseconds, against hours without twin ranks


@pytest.mark.slow
@unhurried
@given(st.data(), st.booleans())
def test_twins_are_the_nodes_that_can_trade_places(data, directed):
    graph = data.draw(graphs(directed, max_nodes=5))
    for node, rank in enumerate(_twin_ranks(graph.node_labels, graph.label_matrix())):
        twins = 0
        for other in range(node):
            order = np.arange(graph.num_nodes)
            order[[node, other]] = other, node
            twins += graph.permuted(order) == graph
        assert rank == twins


def test_every_label_and_every_direction_counts():
    labels, edges = [0, 1, 1], [(0, 1), (1, 2)]
    graph = Graph(labels, edges, [1, 2])
    assert is_isomorphic(graph, Graph(labels, edges, [1, 2]))
    assert not is_isomorphic(graph, Graph(labels, edges, [2, 1]))
    assert not is_isomorphic(graph, Graph([1, 0, 1], edges, [1, 2]))
    directed = Graph(labels, edges, [1, 1], directed=True)
    assert not is_isomorphic(directed, Graph(labels, [(0, 1), (2, 1)], [1, 1], directed=True))


def test_single_nodes_are_compared_by_label():
    assert is_isomorphic(Graph([3], []), Graph([3], []))
    assert not is_isomorphic(Graph([3], []), Graph([4], []))
    assert not is_isomorphic(Graph([3], []), Graph([3, 3], []))


def test_a_directed_and_an_undirected_graph_cannot_be_compared():
    with pytest.raises(ValueError, match="directed=False and directed=True"):
        is_isomorphic(Graph([0], []), Graph([0], [], directed=True))


@pytest.mark.slow
@unhurried
@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_accuracy_is_the_share_of_right_predictions(is_right):
    path = Graph([0, 1, 0], [(0, 1), (1, 2)])
    wrong = [Graph([0, 0, 1], [(0, 1), (1, 2)]), None]
    right = path.permuted([1, 2, 0])
    predictions = [right if ok else wrong[k % 2] for k, ok in enumerate(is_right)]
    assert isomorphism_accuracy([path] * len(is_right), predictions) == np.mean(is_right)


def test_accuracy_needs_one_prediction_for_each_of_one_or_more_targets():
    with pytest.raises(ValueError, match="1 targets but 2 predictions"):
        isomorphism_accuracy([Graph([0], [])], [None, None])
    with pytest.raises(ValueError, match="at least one"):
        isomorphism_accuracy([], [])
