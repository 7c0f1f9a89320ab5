"""Random networks are uniform over acyclic graphs; the score is BIC."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare

from grale.data.bayes_nets import (
    ASIA,
    SAMPLE,
    NetworkScorer,
    is_acyclic,
    random_networks,
    read_sample,
    textbook_asia,
)
from grale.graphs.graph import Graph


@pytest.mark.slow
def test_each_acyclic_graph_of_three_nodes_is_equally_likely() -> None:
    drawn = Counter(g.label_matrix().tobytes() for g in random_networks(5_000, 3, seed=1))
    assert len(drawn) == 25
    assert chisquare(list(drawn.values())).pvalue > 0.001
    skewed = list(drawn.values())
    skewed[0] += 200
    assert chisquare(skewed).pvalue < 0.001  # the test would notice


@pytest.mark.slow
def test_networks_are_acyclic_directed_and_repeatable() -> None:
    networks = random_networks(200, seed=3)
    assert all(is_acyclic(network) and network.directed for network in networks)
    assert all(network.num_nodes == 8 for network in networks)
    assert networks == random_networks(200, seed=3)
    assert networks != random_networks(200, seed=4)
    assert not is_acyclic(Graph([0, 1, 2], [(0, 1), (1, 2), (2, 0)], directed=True))


def literal_score(values: np.ndarray, network: Graph) -> float:
    """BIC written out: a loop over rows and parameters."""
    matrix = network.label_matrix()
    total, parameters = 0.0, 0
    for node in range(values.shape[1]):
        parents = np.flatnonzero(matrix[:, node])
        for row in values:
            same = (values[:, parents] == row[parents]).all(axis=1)
            total += np.log((values[same, node] == row[node]).mean())
        levels = [len(np.unique(values[:, parent])) for parent in parents]
        parameters += int(np.prod(levels)) * (len(np.unique(values[:, node])) - 1)
    return total - 0.5 * np.log(len(values)) * parameters


@pytest.mark.slow
def test_the_score_equals_its_definition() -> None:
    rng = np.random.default_rng(0)
    values = np.stack([rng.integers(0, 2, 60), rng.integers(0, 3, 60)], axis=1)
    third = (values[:, 0] + rng.integers(0, 2, 60)) % 2
    values = np.column_stack([values, third])
    scorer = NetworkScorer(values)
    for network in random_networks(25, 3, seed=0):
        assert scorer.score(network) == pytest.approx(literal_score(values, network))


def test_the_order_of_the_nodes_changes_no_score() -> None:
    values = np.array(list(product([0, 1], repeat=3)) * 3)[:-5]
    scorer = NetworkScorer(values)
    for network in random_networks(10, 3, seed=5):
        assert scorer.score(network.permuted([2, 0, 1])) == pytest.approx(scorer.score(network))


def test_networks_that_cannot_be_scored_are_refused() -> None:
    scorer = NetworkScorer(np.zeros((4, 3), dtype=int))
    with pytest.raises(ValueError, match="directed graph of 3 nodes"):
        scorer.score(Graph([0, 1, 2]))
    with pytest.raises(ValueError, match="exactly one node"):
        scorer.score(Graph([0, 1, 1], directed=True))
    with pytest.raises(ValueError, match="cycle"):
        scorer.score(Graph([0, 1, 2], [(0, 1), (1, 0)], directed=True))


def test_a_sample_is_read_by_its_columns_or_refused_by_name(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="--data names the folder"):
        read_sample(tmp_path)
    columns = {name: ["no", "yes", "no"] for name in reversed(ASIA)} | {"B": ["yes", "no", "no"]}
    pq.write_table(pa.table(columns), tmp_path / SAMPLE)
    values = read_sample(tmp_path)
    assert values[:, ASIA.index("B")].tolist() == [1, 0, 0]
    assert values[:, ASIA.index("D")].tolist() == [0, 1, 0]
    pq.write_table(pa.table({"A": [1]}), tmp_path / SAMPLE)
    with pytest.raises(ValueError, match="has no column 'S'"):
        read_sample(tmp_path)


def test_the_textbook_network_scores_as_published(shared_data) -> None:
    scorer = NetworkScorer(read_sample(shared_data / "dag"))
    assert scorer.score(textbook_asia()) == pytest.approx(-11109.74, abs=0.005)
