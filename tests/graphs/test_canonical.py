from itertools import product

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given

from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions, positions_in_torch
from grale.graphs.graph import Graph
from grale.graphs.permute import permute_batch
from strategies import graph_lists, graphs, random_graph, seeds, unhurried

NUM_ORDERS = 6


def cycles(*lengths):
    return networkx.disjoint_union_all([networkx.cycle_graph(length) for length in lengths])


def shrikhande():
    """Strongly regular, with the parameters of the line graph of K_4,4."""
    steps = [(0, 1), (1, 0), (1, 1)]
    nodes = list(product(range(4), range(4)))
    return networkx.Graph(
        ((i, j), ((i + a) % 4, (j + b) % 4)) for (i, j), (a, b) in product(nodes, steps)
    )


SYMMETRIC = {
    "one node": networkx.empty_graph(1),
    "no edges": networkx.empty_graph(6),
    "cycle": networkx.cycle_graph(7),
    "even cycle": networkx.cycle_graph(6),
    "two triangles": cycles(3, 3),
    "cycles of several lengths": cycles(3, 4, 5),
    "two equal cycles and another": cycles(4, 4, 5),
    "complete": networkx.complete_graph(6),
    "bipartite": networkx.complete_bipartite_graph(3, 4),
    "star": networkx.star_graph(7),
    "path": networkx.path_graph(8),
    "binary tree": networkx.balanced_tree(2, 3),
    "caterpillar": networkx.Graph([(0, 1), (1, 2), (2, 3), (0, 4), (1, 5), (2, 6), (3, 7)]),
    "petersen": networkx.petersen_graph(),
    "frucht": networkx.frucht_graph(),
    "cube": networkx.hypercube_graph(3),
    "four-cube": networkx.hypercube_graph(4),
    "desargues": networkx.desargues_graph(),
    "heawood": networkx.heawood_graph(),
    "grid": networkx.grid_2d_graph(3, 4),
    "ladder": networkx.circular_ladder_graph(6),
    "shrikhande": shrikhande(),
    "rook": networkx.line_graph(networkx.complete_bipartite_graph(4, 4)),
}


def plain(graph, node_labels=None):
    graph = networkx.convert_node_labels_to_integers(graph)
    return Graph([0] * len(graph) if node_labels is None else node_labels, list(graph.edges))


def in_random_orders(graph, rng, count=NUM_ORDERS):
    return [graph.permuted(rng.permutation(graph.num_nodes)) for _ in range(count)]


def canonical_forms(batch):
    return permute_batch(batch, canonical_positions(batch).argsort(dim=1)).to_graphs()


def index_forms(batch):
    """What one gets with the position in the list instead: the control."""
    width = batch.max_nodes
    return permute_batch(batch, torch.arange(width).expand(len(batch), width)).to_graphs()


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_symmetric_graph_has_one_canonical_form(name):
    rng = np.random.default_rng(0)
    orders = in_random_orders(plain(SYMMETRIC[name]), rng)
    assert len(set(canonical_forms(GraphBatch.from_graphs(orders)))) == 1


@pytest.mark.slow
@given(graphs(max_nodes=7), seeds)
@unhurried
def test_a_random_labelled_graph_has_one_canonical_form(graph, seed):
    orders = in_random_orders(graph, np.random.default_rng(seed), count=4)
    assert len(set(canonical_forms(GraphBatch.from_graphs(orders)))) == 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("num_labels", "density"), [(1, 0.15), (1, 0.5), (4, 0.3)])
def test_larger_random_graphs_have_one_canonical_form(directed, num_labels, density):
    rng = np.random.default_rng(0)
    drawn = [random_graph(rng, 16, directed, num_labels, num_labels, density) for _ in range(6)]
    batch = GraphBatch.from_graphs([g for graph in drawn for g in in_random_orders(graph, rng, 4)])
    forms = canonical_forms(batch)
    for start in range(0, len(forms), 4):
        assert len(set(forms[start : start + 4])) == 1
    assert len(set(forms)) == 6


@pytest.mark.parametrize("name", ["cycle", "petersen", "cube", "binary tree"])
def test_a_few_labels_on_a_symmetric_graph_keep_one_canonical_form(name):
    rng = np.random.default_rng(0)
    graph = SYMMETRIC[name]
    labelled = plain(graph, rng.integers(0, 2, len(graph)))
    weighted = Graph(labelled.node_labels, labelled.edges, rng.integers(1, 3, labelled.num_edges))
    for case in (labelled, weighted):
        forms = canonical_forms(GraphBatch.from_graphs(in_random_orders(case, rng)))
        assert len(set(forms)) == 1
    assert forms[0] != canonical_forms(GraphBatch.from_graphs([labelled]))[0]


@pytest.mark.parametrize(
    "edges",
    [
        [(i, (i + 1) % 6) for i in range(6)],
        [(i, (i + s) % 7) for i in range(7) for s in (1, 2, 4)],
        [(0, i) for i in range(1, 6)],
        [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
        [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5)],
    ],
    ids=["cycle", "tournament", "star", "two triangles", "pairs"],
)
def test_a_symmetric_directed_graph_has_one_canonical_form(edges):
    size = max(max(edge) for edge in edges) + 1
    graph = Graph([0] * size, edges, directed=True)
    forms = canonical_forms(
        GraphBatch.from_graphs(in_random_orders(graph, np.random.default_rng(0), 12))
    )
    assert len(set(forms)) == 1


def test_direction_is_part_of_the_canonical_form():
    """A path and the star it turns into when one edge is reversed are told apart."""
    path, sink = ([(0, 1), (1, 2)], [(0, 1), (2, 1)])
    batch = GraphBatch.from_graphs([Graph([0] * 3, edges, directed=True) for edges in (path, sink)])
    first, second = canonical_forms(batch)
    assert first != second


@pytest.mark.parametrize("name", ["cycle", "star", "petersen", "frucht", "binary tree"])
def test_the_order_of_the_list_is_no_canonical_form(name):
    """Control: with the index as position the test above fails."""
    orders = in_random_orders(plain(SYMMETRIC[name]), np.random.default_rng(0))
    assert len(set(index_forms(GraphBatch.from_graphs(orders)))) > 1


def test_graphs_that_are_not_isomorphic_have_different_canonical_forms():
    pairs = [
        (cycles(6), cycles(3, 3)),
        (cycles(3, 5), cycles(4, 4)),
        (shrikhande(), SYMMETRIC["rook"]),
        (networkx.hypercube_graph(3), networkx.circulant_graph(8, [1, 4])),
    ]
    for first, second in pairs:
        batch = GraphBatch.from_graphs([plain(first), plain(second)])
        assert len(set(canonical_forms(batch))) == 2


def test_positions_are_ranks_with_padding_last():
    rng = np.random.default_rng(0)
    listed = [random_graph(rng, size, False, 2, 2, 0.4) for size in (1, 3, 6, 8)]
    batch = GraphBatch.from_graphs(listed, 10)
    for size, positions in zip((1, 3, 6, 8), canonical_positions(batch).tolist()):
        assert sorted(positions[:size]) == list(range(size))
        assert sorted(positions[size:]) == list(range(size, 10))


@pytest.mark.parametrize("directed", [False, True])
def test_padding_and_batch_mates_change_no_position(directed):
    rng = np.random.default_rng(0)
    listed = [random_graph(rng, size, directed, 2, 1, 0.3) for size in (1, 4, 5, 7, 9, 9)]
    ring = [(i, (i + 1) % 8) for i in range(8)]
    listed.append(Graph([0] * 8, ring, directed=directed))
    together = canonical_positions(GraphBatch.from_graphs(listed, 12))
    for row, graph in enumerate(listed):
        alone = canonical_positions(GraphBatch.from_graphs([graph]))[0]
        assert alone.tolist() == together[row, : graph.num_nodes].tolist()


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="the limit stated in canonical.py: strongly regular pairs")
def test_two_strongly_regular_components_have_one_canonical_form():
    graph = plain(networkx.disjoint_union(shrikhande(), SYMMETRIC["rook"]))
    orders = in_random_orders(graph, np.random.default_rng(0), 8)
    assert len(set(canonical_forms(GraphBatch.from_graphs(orders)))) == 1


@pytest.mark.slow
@given(graph_lists(max_nodes=12))
@unhurried
def test_the_compiled_positions_are_those_of_torch(listed):
    batch = GraphBatch.from_graphs(listed, max(graph.num_nodes for graph in listed) + 2)
    assert torch.equal(canonical_positions(batch), positions_in_torch(batch))


@pytest.mark.parametrize("name", SYMMETRIC)
def test_ties_are_broken_alike_by_both(name):
    graph = Graph.from_networkx(networkx.convert_node_labels_to_integers(SYMMETRIC[name]))
    batch = GraphBatch.from_graphs([graph], graph.num_nodes + 1)
    assert torch.equal(canonical_positions(batch), positions_in_torch(batch))


def test_gaps_between_real_nodes_are_skipped_alike_by_both():
    graph = Graph([0, 1, 2, 1], [(0, 1), (1, 2), (2, 3)])
    batch = GraphBatch.from_graphs([graph], 7)
    order = torch.tensor([[4, 0, 5, 1, 2, 6, 3]])
    spread = permute_batch(batch, order)
    assert not spread.node_mask[0, :4].all()
    assert torch.equal(canonical_positions(spread), positions_in_torch(spread))
