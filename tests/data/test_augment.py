"""Changed copies of training graphs are graphs of the same space, and reproducible."""

from __future__ import annotations

import numpy as np
import pytest

from grale.data.augment import AugmentConfig, augmented
from grale.data.packed import PackedGraphs
from grale.data.sources import DataConfig
from grale.graphs.graph import Graph

HALF = AugmentConfig(share=0.5, label_noise=0.5, edge_noise=0.5)


def pool(directed: bool = False) -> PackedGraphs:
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(200):
        pairs = np.argwhere(np.triu(rng.random((6, 6)) < 0.4, k=1))
        labels = rng.integers(1, 3, len(pairs))
        features = rng.random((6, 2))
        graphs.append(Graph(rng.integers(0, 3, 6), pairs, labels, directed, node_features=features))
    return PackedGraphs.from_graphs(graphs, np.arange(200, dtype=np.float32)[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_changed_copies_are_valid_graphs(directed: bool) -> None:
    before = pool(directed)
    after = augmented(before, HALF, np.random.default_rng(1))
    for graph in after.graphs():  # checked again, and nothing is sorted or dropped
        again = Graph(graph.node_labels, graph.edges, graph.edge_labels, directed)
        assert np.array_equal(again.edges, graph.edges)
        assert np.array_equal(again.edge_labels, graph.edge_labels)
    assert after.num_nodes.tolist() == before.num_nodes.tolist()
    assert set(after.edge_labels.tolist()) == {1, 2}


@pytest.mark.slow
def test_about_the_share_is_changed_and_loses_its_properties() -> None:
    before = pool()
    after = augmented(before, HALF, np.random.default_rng(1))
    is_changed = np.array([a != b for a, b in zip(before.graphs(), after.graphs())])
    assert 0.35 < is_changed.mean() < 0.65
    assert after.properties is not None
    assert np.isnan(after.properties[is_changed]).all()
    assert 0.4 < len(after.edges) / len(before.edges) < 1.2


@pytest.mark.slow
def test_a_share_of_zero_changes_nothing() -> None:
    before = pool()
    after = augmented(before, AugmentConfig(share=0.0), np.random.default_rng(1))
    assert after.graphs() == before.graphs()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_copies_and_another_does_not() -> None:
    first, same, other = (
        augmented(pool(), HALF, np.random.default_rng(seed)).graphs() for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


def test_shares_are_shares_and_need_a_dataset() -> None:
    with pytest.raises(ValueError, match=r"edge_noise must be in \[0, 1\]"):
        AugmentConfig(edge_noise=1.5)
    with pytest.raises(ValueError, match="augment needs source=shards"):
        DataConfig(source="coloring10", augment=HALF)
