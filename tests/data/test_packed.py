"""Packed graphs cut into batches as GraphBatch.from_graphs does."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grale.data.packed import PackedGraphs
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


@pytest.fixture
def mixed() -> list[Graph]:
    return [
        Graph([3]),
        Graph([0, 1], [(0, 1)], [2]),
        Graph([1, 1, 1]),
        Graph([0, 2, 1, 0], [(0, 1), (2, 3), (1, 3)], [1, 2, 1]),
    ]


def test_unpacking_gives_back_the_graphs(mixed: list[Graph]) -> None:
    assert PackedGraphs.from_graphs(mixed).graphs() == mixed


def test_a_packed_batch_equals_a_batch_of_the_same_graphs(mixed: list[Graph]) -> None:
    rows = np.array([3, 0, 3, 1])
    packed = PackedGraphs.from_graphs(mixed).batch(rows)
    direct = GraphBatch.from_graphs([mixed[row] for row in rows])
    assert torch.equal(packed.node_mask, direct.node_mask)
    assert torch.equal(packed.node_labels, direct.node_labels)
    assert torch.equal(packed.edge_labels, direct.edge_labels)


def test_directed_edges_keep_their_direction() -> None:
    graph = Graph([0, 0, 0], [(2, 0), (0, 1)], directed=True)
    batch = PackedGraphs.from_graphs([graph, graph]).batch(np.array([1]))
    assert batch.to_graphs() == [graph]
    assert not torch.equal(batch.edge_labels, batch.edge_labels.transpose(1, 2))


def test_joining_packs_keeps_all_graphs_in_order(mixed: list[Graph]) -> None:
    halves = [PackedGraphs.from_graphs(mixed[:1]), PackedGraphs.from_graphs(mixed[1:])]
    assert PackedGraphs.join(halves).graphs() == mixed


def test_no_graphs_and_mixed_directions_are_refused(mixed: list[Graph]) -> None:
    with pytest.raises(ValueError, match="no graphs"):
        PackedGraphs.from_graphs([])
    with pytest.raises(ValueError, match="graph 1"):
        PackedGraphs.from_graphs([mixed[0], Graph([0], directed=True)])


def test_a_graph_without_room_in_the_space_is_named(mixed: list[Graph]) -> None:
    packed = PackedGraphs.from_graphs(mixed)
    packed.check(GraphSpace(max_nodes=4, num_node_labels=4, num_edge_labels=2), "here")
    for space, message in (
        (GraphSpace(max_nodes=3, num_node_labels=4, num_edge_labels=2), "graph 3 of here has 4"),
        (GraphSpace(max_nodes=4, num_node_labels=3, num_edge_labels=2), "graph 0 of here has lab"),
        (GraphSpace(max_nodes=4, num_node_labels=4, num_edge_labels=1), "graph 1 of here has lab"),
    ):
        with pytest.raises(ValueError, match=message):
            packed.check(space, "here")
