import networkx
import numpy as np
import pytest
from hypothesis import given

from grale.graphs.graph import Graph
from grale.metrics.edit_distance import Edit, apply_edits, edit_distance, edits
from grale.metrics.isomorphism import is_isomorphic
from metrics.small_graphs import (
    complete_mappings,
    mapped_pairs,
    same_label,
    to_networkx,
)
from strategies import random_graph, unhurried


def literal_edit_distance(g1, g2, mapping):
    """The edits of a mapping, counted one node and one pair of nodes at a time."""
    matrix1, matrix2 = g1.label_matrix(), g2.label_matrix()
    partners = [(i, j if j >= 0 else None) for i, j in enumerate(mapping)]
    partners += [(None, j) for j in range(g2.num_nodes) if j not in mapping]
    total = 0
    for position, (i, j) in enumerate(partners):
        total += i is None or j is None or g1.node_labels[i] != g2.node_labels[j]
        for k, m in partners[:position] if not g1.directed else partners:
            before = 0 if i is None or k is None else matrix1[i, k]
            after = 0 if j is None or m is None else matrix2[j, m]
            total += before != after
    return total


@pytest.mark.slow
@unhurried
@given(mapped_pairs())
def test_the_cost_of_a_mapping_is_the_literal_count(case):
    assert edit_distance(*case) == literal_edit_distance(*case)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_the_cheapest_complete_mapping_costs_what_networkx_finds(directed):
    rng = np.random.default_rng(0)
    sizes_differ = []
    for _ in range(30):
        g1, g2 = (random_graph(rng, rng.integers(1, 5), directed, 2, 2, 0.5) for _ in range(2))
        exact = networkx.graph_edit_distance(
            to_networkx(g1), to_networkx(g2), node_match=same_label, edge_match=same_label
        )
        assert exact == min(edit_distance(g1, g2, m) for m in complete_mappings(g1, g2))
        sizes_differ.append(g1.num_nodes != g2.num_nodes)
    assert set(sizes_differ) == {False, True}


@pytest.mark.slow
@unhurried
@given(mapped_pairs())
def test_the_way_back_costs_the_same(case):
    g1, g2, mapping = case
    inverse = np.full(g2.num_nodes, -1)
    inverse[mapping[mapping >= 0]] = np.flatnonzero(mapping >= 0)
    assert edit_distance(g2, g1, inverse) == edit_distance(g1, g2, mapping)


@pytest.mark.slow
@unhurried
@given(mapped_pairs())
def test_each_edit_is_listed_once_and_the_list_replays_to_the_second_graph(case):
    g1, g2, mapping = case
    changes = edits(g1, g2, mapping)
    assert len(changes) == len(set(changes)) == edit_distance(g1, g2, mapping)
    kept = mapping[mapping >= 0]
    inserted = np.setdiff1d(np.arange(g2.num_nodes), kept)
    replayed = apply_edits(g1, changes)
    assert replayed == g2.permuted(np.concatenate([kept, inserted]))
    assert is_isomorphic(replayed, g2)


@pytest.mark.slow
@unhurried
@given(mapped_pairs())
def test_an_edit_left_out_of_the_list_spoils_the_replay(case):
    g1, g2, mapping = case
    for position, edit in enumerate(changes := edits(g1, g2, mapping)):
        try:
            replayed = apply_edits(g1, changes[:position] + changes[position + 1 :])
        except ValueError:
            continue  # an edge lost its node, or no node is left
        assert not is_isomorphic(replayed, g2), f"{edit} was not needed"


def test_a_mapping_that_reorders_a_graph_costs_nothing_and_others_do():
    graph = Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2])
    order = np.array([2, 0, 1])
    assert edit_distance(graph, graph.permuted(order), np.argsort(order)) == 0
    assert edits(graph, graph.permuted(order), np.argsort(order)) == []
    assert edit_distance(graph, graph.permuted(order), [0, 1, 2]) > 0


def test_every_kind_of_edit_is_listed_in_plain_words():
    g1 = Graph([0, 1, 2, 3], [(0, 1), (1, 2), (2, 3)])
    g2 = Graph([9, 5, 1, 2], [(1, 2), (2, 3), (0, 2)], [1, 4, 1])
    assert [str(edit) for edit in edits(g1, g2, [1, 2, 3, -1])] == [
        "delete edge (2, 3): label 1",
        "delete node 3: label 3",
        "relabel node 0: 0 -> 5",
        "insert node 4: label 9",
        "relabel edge (1, 2): 1 -> 4",
        "insert edge (1, 4): label 1",
    ]


def test_an_arc_counts_for_itself_in_directed_graphs():
    there = Graph([0, 0], [(0, 1)], directed=True)
    back = Graph([0, 0], [(1, 0)], directed=True)
    both = Graph([0, 0], [(0, 1), (1, 0)], directed=True)
    assert edit_distance(there, back, [0, 1]) == 2
    assert edit_distance(there, both, [0, 1]) == 1
    assert edit_distance(there, back, [1, 0]) == 0


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ([0], r"one integer for each of the 3 nodes of g1, got int64 of shape \(1,\)"),
        (np.array([0.0, 1.0, -1.0]), "got float64"),
        ([0, 2, -1], r"mapping\[1\] is 2; expected a node of g2, 0..1"),
        ([0, -1, -2], r"mapping\[2\] is -2"),
        ([1, -1, 1], r"mapping\[0\] and mapping\[2\] are both 1"),
    ],
)
def test_a_bad_mapping_is_refused_by_index(mapping, message):
    with pytest.raises(ValueError, match=message):
        edit_distance(Graph([0, 0, 0], []), Graph([0, 0], []), mapping)


def test_a_mapping_between_directed_and_undirected_graphs_is_refused():
    with pytest.raises(ValueError, match="directed=True and directed=False"):
        edits(Graph([0], [], directed=True), Graph([0], []), [0])


def test_an_edit_that_does_not_find_what_it_changes_is_refused():
    graph = Graph([0, 1], [(0, 1)])
    with pytest.raises(ValueError, match=r"expects 4 at \(1,\), found 1"):
        apply_edits(graph, [Edit("relabel node", (1,), 4, 2)])
    with pytest.raises(ValueError, match=r"expects None at \(0, 1\), found 1"):
        apply_edits(graph, [Edit("insert edge", (0, 1), None, 2)])
    with pytest.raises(ValueError, match=r"edge \(0, 1\) ends at missing node 1"):
        apply_edits(graph, [Edit("delete node", (1,), 1, None)])
