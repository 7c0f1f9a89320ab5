"""Networks and their scores on disk."""

import numpy as np
import pytest

from grale.data.bayes_nets import NetworkScorer, random_networks
from grale.data.network_set import adjacency_rows, prepare_network_set, read_networks
from grale.data.storage import write_shards
from grale.graphs.graph import Graph


@pytest.fixture
def scorer(rng):
    return NetworkScorer(rng.integers(0, 2, (40, 8)))


@pytest.mark.slow
def test_nine_tenths_train_and_every_network_has_its_score(scorer, tmp_path):
    prepare_network_set(scorer, tmp_path, 20)
    train, test = (read_networks(tmp_path / split) for split in ("train", "test"))
    assert train.graphs + test.graphs == random_networks(20, seed=0)
    expected = [scorer.score(graph) for graph in train.graphs]
    np.testing.assert_allclose(train.scores, expected, rtol=1e-6)
    watched = read_networks(tmp_path / "valid").graphs
    assert not any(graph in train.graphs + test.graphs for graph in watched)


def test_networks_that_are_there_are_not_drawn_again(scorer, tmp_path):
    prepare_network_set(scorer, tmp_path, 20)
    prepare_network_set(scorer, tmp_path, 30)
    assert len(read_networks(tmp_path / "train").graphs) == 18


def test_networks_without_scores_are_refused(tmp_path):
    from grale.data.bayes_nets import NETWORK_SPACE

    write_shards(tmp_path, random_networks(3), NETWORK_SPACE)
    with pytest.raises(ValueError, match="have no scores"):
        read_networks(tmp_path)


def test_adjacency_follows_the_variables_not_the_order_of_the_nodes(rng):
    network = random_networks(1, seed=2)[0]
    moved = network.permuted(rng.permutation(8))
    first, second, other = adjacency_rows([network, moved, random_networks(1, seed=3)[0]])
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert first.sum() == network.num_edges
    pair = Graph(np.arange(8), [(0, 1), (7, 6)], directed=True)
    assert np.flatnonzero(adjacency_rows([pair])[0]).tolist() == [0, 55]
