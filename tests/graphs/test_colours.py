"""Counts of a graph: its own, whatever the order of its nodes, and other for another graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.batch import GraphBatch
from grale.graphs.colours import LABEL_BUCKETS, NUM_COUNTS, PATH_BUCKETS, colour_counts
from grale.graphs.graph import Graph
from strategies import random_graph


def counts(*graphs: Graph) -> torch.Tensor:
    return colour_counts(GraphBatch.from_graphs(list(graphs)))


@pytest.mark.slow
@given(st.integers(0, 10_000), st.booleans())
def test_order_padding_and_batch_mates_change_nothing(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    graph, mate = random_graph(rng, directed=directed), random_graph(rng, 12, directed=directed)
    moved = graph.permuted(rng.permutation(graph.num_nodes))
    alone = counts(graph)[0]
    assert torch.equal(counts(moved)[0], alone)
    assert torch.equal(counts(graph, mate)[0], alone)
    assert alone.shape == (NUM_COUNTS,)


def test_labels_and_path_lengths_are_counted_literally() -> None:
    path = Graph([0, 3, 3], [(0, 1), (1, 2)])
    found = counts(path)[0]
    assert found[:4].tolist() == [1, 0, 0, 2]
    assert found[-PATH_BUCKETS:][:4].tolist() == [0, 4, 2, 0]  # both directions
    assert found.sum() == 3 + 4 + 3 + 3 + 6  # labels, bonds, two radii, paths


def test_graphs_that_differ_in_one_label_bond_or_edge_have_other_counts() -> None:
    base = Graph([0, 1, 2, 1], [(0, 1), (1, 2), (2, 3)], [1, 2, 1])
    others = [
        Graph([0, 1, 2, 2], [(0, 1), (1, 2), (2, 3)], [1, 2, 1]),
        Graph([0, 1, 2, 1], [(0, 1), (1, 2), (2, 3)], [1, 1, 1]),
        Graph([0, 1, 2, 1], [(0, 1), (1, 2), (0, 3)], [1, 2, 1]),
    ]
    found = counts(base, *others)
    for row in range(1, len(found)):
        assert not torch.equal(found[row], found[0])
    same_labels = found[3, :LABEL_BUCKETS], found[0, :LABEL_BUCKETS]
    assert torch.equal(*same_labels)  # a moved edge shows in the colours alone
