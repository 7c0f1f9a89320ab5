import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from grale.matching.local_search import (
    edit_distance_bound,
    reconstruction_distances,
    swap_deltas,
)
from grale.matching.problem import pose
from grale.metrics.edit_distance import edit_distance
from grale.metrics.isomorphism import is_isomorphic, isomorphism_accuracy
from grale.metrics.reconstruction import reconstruction_report
from metrics.small_graphs import (
    complete_mappings,
    graphs,
    mapped_pairs,
    pairs,
)
from strategies import random_graph, unhurried

# Share of bounds equal to the distance, 5 nodes and fewer, 3 node and 2 edge labels.
# Measured on 1000 pairs: 0.95 undirected, 0.83 directed. Thresholds leave room for other seeds.
EXACT_SHARE = {False: 0.85, True: 0.7}


def exact_distance(g1, g2):
    return min(edit_distance(g1, g2, mapping) for mapping in complete_mappings(g1, g2))


def floor(g1, g2):
    """A lower bound: label counts and edge counts cannot be matched better than this."""
    size = 1 + max(g1.node_labels.max(), g2.node_labels.max())
    counts1, counts2 = (np.bincount(g.node_labels, minlength=size) for g in (g1, g2))
    kept = np.minimum(counts1, counts2).sum()
    return max(g1.num_nodes, g2.num_nodes) - kept + abs(g1.num_edges - g2.num_edges)


@pytest.mark.slow
@unhurried
@given(pairs(max_nodes=4))
def test_the_bound_is_never_below_the_distance_and_belongs_to_its_mapping(pair):
    bound = edit_distance_bound(*pair)
    assert bound.edit_distance == edit_distance(*pair, bound.mapping)
    assert bound.edit_distance >= exact_distance(*pair) >= floor(*pair)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_the_bound_is_mostly_the_distance_on_small_graphs(directed):
    rng = np.random.default_rng(0)
    is_exact = []
    for _ in range(60):
        g1, g2 = (random_graph(rng, rng.integers(3, 6), directed) for _ in range(2))
        is_exact.append(edit_distance_bound(g1, g2).edit_distance == exact_distance(g1, g2))
    assert np.mean(is_exact) >= EXACT_SHARE[directed]


@pytest.mark.slow
@unhurried
@given(mapped_pairs())
def test_the_bound_never_exceeds_the_cost_of_the_mapping_it_starts_from(case):
    g1, g2, mapping = case
    bound = edit_distance_bound(g1, g2, mapping)
    assert bound.edit_distance <= edit_distance(g1, g2, mapping)
    assert bound.edit_distance == edit_distance(g1, g2, bound.mapping)


@pytest.mark.slow
@unhurried
@given(st.data(), pairs())
def test_a_swap_changes_the_cost_by_its_delta(data, pair):
    g1, g2 = pair
    padded = pose(g1, g2)
    size = len(padded.labels1)
    start = np.array(data.draw(st.permutations(range(size))))

    def cost(permutation):
        mapping = permutation[: g1.num_nodes]
        return edit_distance(g1, g2, np.where(mapping < g2.num_nodes, mapping, -1))

    deltas = swap_deltas(padded.permuted(start))
    for first in range(size):
        for second in range(size):
            swapped = start.copy()
            swapped[[first, second]] = start[[second, first]]
            assert deltas[first, second] == cost(swapped) - cost(start)


@pytest.mark.slow
@unhurried
@given(st.data(), st.booleans())
def test_the_right_mapping_gives_zero_and_zero_means_isomorphic(data, directed):
    graph = data.draw(graphs(directed))
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))
    other = graph.permuted(order)
    assert edit_distance_bound(graph, other, np.argsort(order)).edit_distance == 0
    different = data.draw(graphs(directed))
    if edit_distance_bound(graph, different).edit_distance == 0:
        assert is_isomorphic(graph, different)


def test_few_edits_on_twenty_nodes_are_found_again_without_a_mapping():
    rng = np.random.default_rng(0)
    for _ in range(10):
        graph = random_graph(rng, 20, num_node_labels=4, num_edge_labels=3, density=0.2)
        matrix = graph.label_matrix()
        i, j = graph.edges[0]
        matrix[i, j] = matrix[j, i] = 0
        other = Graph.from_label_matrix(graph.node_labels, matrix).permuted(rng.permutation(20))
        assert edit_distance_bound(graph, other).edit_distance == 1


@pytest.mark.slow
def test_swaps_improve_on_the_start_and_stop_when_told():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        g1, g2 = random_graph(rng, 8), random_graph(rng, 10)
        costs = [edit_distance_bound(g1, g2, max_rounds=k).edit_distance for k in (0, 1, 100)]
        assert costs == sorted(costs, reverse=True)
        gains.append(costs[0] - costs[-1])
    assert np.mean(gains) > 1


def test_a_start_is_not_changed_and_bad_arguments_are_refused():
    g1, g2 = Graph([0, 1], [(0, 1)]), Graph([1, 0], [(0, 1)])
    start = np.array([0, 1])
    assert edit_distance_bound(g1, g2, start).edit_distance == 0
    assert start.tolist() == [0, 1]
    with pytest.raises(ValueError, match="max_rounds must be >= 0, got -1"):
        edit_distance_bound(g1, g2, max_rounds=-1)
    with pytest.raises(ValueError, match=r"mapping\[0\] and mapping\[1\] are both 0"):
        edit_distance_bound(g1, g2, [0, 0])
    with pytest.raises(ValueError, match="directed=False and directed=True"):
        edit_distance_bound(g1, Graph([0], [], directed=True))


def test_a_report_averages_over_right_wrong_and_missing_predictions():
    path = Graph([0, 1, 2], [(0, 1), (1, 2)])
    shorter = Graph([0, 1], [(0, 1)])
    relabelled = Graph([0, 1, 3], [(0, 1), (1, 2)])
    predictions = [path.permuted([2, 0, 1]), relabelled, shorter, None]
    targets, starts = [path] * 4, [None, [0, 1, 2], [0, 1, -1], None]
    distances = reconstruction_distances(targets, predictions, starts)
    report = reconstruction_report(targets, predictions, distances)
    assert report.accuracy == isomorphism_accuracy(targets, predictions) == 1 / 4
    assert report.edit_distance == (0 + 1 + 2 + 5) / 4
    assert report.size_accuracy == 2 / 4
    assert report.num_targets == 4
    assert reconstruction_distances(targets, predictions) == distances


def test_the_distance_of_isomorphic_graphs_is_zero_even_when_the_search_would_miss_it():
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(20):
        graph = random_graph(rng, 12, num_node_labels=1, num_edge_labels=1, density=0.3)
        other = graph.permuted(rng.permutation(12))
        missed += edit_distance_bound(graph, other).edit_distance > 0
        assert reconstruction_distances([graph], [other]) == [0]
    assert missed > 0


def test_a_report_needs_equal_lengths_and_at_least_one_target():
    graph = Graph([0], [])
    with pytest.raises(ValueError, match="1 targets, 2 predictions and 1 mappings"):
        reconstruction_distances([graph], [graph, graph])
    with pytest.raises(ValueError, match="at least one"):
        reconstruction_report([], [], [])
