import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from strategies import graph_lists, random_graph, unhurried

SMALL = Graph([3], [])
LARGE = Graph([1, 2, 1], [(0, 1), (1, 2)], [2, 1])


@pytest.mark.slow
@given(graph_lists(), st.integers(0, 3))
@unhurried
def test_batching_and_unbatching_gives_the_graphs_back(listed, extra):
    width = max(graph.num_nodes for graph in listed) + extra
    batch = GraphBatch.from_graphs(listed, width)
    assert batch.to_graphs() == listed
    assert [hash(graph) for graph in batch.to_graphs()] == [hash(graph) for graph in listed]


@pytest.mark.slow
@given(graph_lists())
@unhurried
def test_entries_are_the_labels_and_padding_is_zero(listed):
    batch = GraphBatch.from_graphs(listed, 9)
    for row, graph in enumerate(listed):
        size = graph.num_nodes
        assert batch.node_mask[row].tolist() == [True] * size + [False] * (9 - size)
        assert batch.node_labels[row, :size].tolist() == graph.node_labels.tolist()
        assert batch.edge_labels[row, :size, :size].tolist() == graph.label_matrix().tolist()
    assert not batch.node_labels[~batch.node_mask].any()
    assert not batch.edge_labels[~batch.edge_mask].any()
    assert not batch.node_mask.all()


def test_the_largest_graph_sets_the_width_when_none_is_given():
    batch = GraphBatch.from_graphs([SMALL, LARGE])
    assert batch.max_nodes == 3
    assert batch.num_nodes.tolist() == [1, 3]
    assert batch.last_node.tolist() == [0, 2]
    assert len(batch) == 2


def test_adjacency_and_edge_mask_are_read_off_the_labels():
    batch = GraphBatch.from_graphs([SMALL, LARGE])
    assert batch.adjacency[1].tolist() == [
        [False, True, False],
        [True, False, True],
        [False, True, False],
    ]
    assert batch.edge_mask.sum(dim=(1, 2)).tolist() == [1, 9]


@pytest.mark.slow
@given(graph_lists(), st.integers(0, 4))
@unhurried
def test_padded_to_keeps_the_graphs(listed, extra):
    batch = GraphBatch.from_graphs(listed)
    wider = batch.padded_to(batch.max_nodes + extra)
    assert wider.max_nodes == batch.max_nodes + extra
    assert wider.to_graphs() == listed
    narrow = wider.padded_to(batch.max_nodes)
    assert narrow.to_graphs() == listed
    assert narrow.max_nodes == batch.max_nodes


def test_padded_to_never_cuts_a_real_node():
    batch = GraphBatch.from_graphs([SMALL, LARGE])
    with pytest.raises(ValueError, match="graph 1 has 3 nodes, but max_nodes=2"):
        batch.padded_to(2)


def test_padded_to_counts_up_to_the_last_node_when_padding_is_not_last():
    batch = GraphBatch(
        torch.tensor([[False, False, True]]), torch.tensor([[0, 0, 4]]), torch.zeros(1, 3, 3).long()
    )
    assert batch.to_graphs() == [Graph([4])]
    with pytest.raises(ValueError, match="max_nodes=2"):
        batch.padded_to(2)


def test_a_graph_that_does_not_fit_is_refused_by_number():
    with pytest.raises(ValueError, match="graph 1 has 3 nodes, but max_nodes=2"):
        GraphBatch.from_graphs([SMALL, LARGE], max_nodes=2)


def test_no_graphs_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        GraphBatch.from_graphs([])


@pytest.mark.parametrize("directed", [False, True])
def test_directed_and_undirected_graphs_do_not_mix(directed):
    first, second = (Graph([0, 0], [(0, 1)], directed=d) for d in (directed, not directed))
    with pytest.raises(ValueError, match=f"graph 2 has directed={not directed}"):
        GraphBatch.from_graphs([first, first, second])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        ([2, 0], [2, 0]),
        ([1, 1], [1, 1]),
        (torch.tensor([3, 2]), [3, 2]),
    ],
)
def test_indexing_picks_rows_in_the_order_asked(rows, expected):
    rng = np.random.default_rng(0)
    listed = [random_graph(rng, size, True, 3, 2, 0.5) for size in (1, 4, 6, 2)]
    picked = GraphBatch.from_graphs(listed)[rows]
    assert picked.to_graphs() == [listed[row] for row in expected]
    assert picked.max_nodes == 6
    assert picked.directed


def test_moving_to_a_device_keeps_the_graphs():
    batch = GraphBatch.from_graphs([SMALL, LARGE])
    assert batch.to("cpu").to_graphs() == [SMALL, LARGE]


def test_narrow_integers_give_graphs_that_are_equal_and_hash_equal():
    batch = GraphBatch.from_graphs([LARGE])
    narrow = GraphBatch(batch.node_mask, batch.node_labels.int(), batch.edge_labels.int())
    (graph,) = narrow.to_graphs()
    assert graph == LARGE
    assert hash(graph) == hash(LARGE)


def test_a_batch_of_the_wrong_shape_is_refused():
    with pytest.raises(Exception, match="edge_labels"):
        GraphBatch(torch.ones(1, 3).bool(), torch.zeros(1, 3).long(), torch.zeros(1, 3, 2).long())
