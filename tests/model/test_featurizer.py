import numpy as np
import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.paths import diffuse_labels
from grale.graphs.space import GraphSpace
from grale.model.config import FeaturizerConfig
from grale.model.featurizer import Featurizer, path_encoding
from model.sample_graphs import SYMMETRIC, shuffled
from reference.featurizer_reference import (
    node_features_reference,
    path_encoding_reference,
    path_length_reference,
)
from strategies import random_graph

ATOL_FLOAT32 = 1e-6  # sines and cosines are below one


@pytest.fixture
def featurizer(space):
    return Featurizer(space, FeaturizerConfig(path_dim=6))


@pytest.fixture
def graphs(rng):
    """Ten graphs of different sizes, one of one node and one without edges among them."""
    return [Graph([1]), Graph([0, 3, 1]), *(random_graph(rng, size) for size in range(4, 12))]


def inside(graph):
    return slice(graph.num_nodes)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_node_features_are_the_diffused_one_hot_labels(space, graphs, order):
    featurizer = Featurizer(space, FeaturizerConfig(diffusion_order=order))
    batch = GraphBatch.from_graphs(graphs)
    features = featurizer(batch).node_feats
    for row, graph in enumerate(graphs):
        literal = node_features_reference(graph, 4, order)
        assert np.array_equal(features[row, inside(graph)].numpy(), literal)
    assert not features[~batch.node_mask].any()
    assert not batch.node_mask.all()  # there was padding


def test_diffusion_follows_the_arrows_of_a_directed_graph():
    space = GraphSpace(max_nodes=3, num_node_labels=2, directed=True)
    graph = Graph([0, 1], [(0, 1)], directed=True)
    features = Featurizer(space, FeaturizerConfig(diffusion_order=1))
    batch = GraphBatch.from_graphs([graph])
    assert features(batch).node_feats[0].tolist() == [[1, 0, 0, 1], [0, 1, 0, 0]]


def test_the_path_code_is_the_length_or_max_nodes(featurizer, graphs):
    batch = GraphBatch.from_graphs(graphs)
    code = featurizer(batch).path_code
    lengths_seen = set()
    for row, graph in enumerate(graphs):
        for i, lengths in enumerate(path_length_reference(graph)):
            expected = [12 if length is None else length for length in lengths]
            assert code[row, i, inside(graph)].tolist() == expected
            lengths_seen |= set(lengths)
    assert {None, 0, 1, 2} <= lengths_seen
    assert (code[~batch.edge_mask] == 12).all()


@pytest.mark.parametrize("dim", [2, 6, 16])
def test_path_encoding_is_the_formula_of_vaswani(dim):
    table = path_encoding(12, dim)
    assert table.shape == (13, dim)
    literal = torch.tensor([path_encoding_reference(length, dim) for length in range(12)])
    torch.testing.assert_close(table[:12], literal, atol=ATOL_FLOAT32, rtol=0)
    assert torch.equal(table[12], torch.zeros(dim))  # no path
    assert len(table.unique(dim=0)) == 13  # every length and "no path" are told apart


def test_the_first_order_featurizer_has_labels_and_edges_only(space, graphs):
    featurizer = Featurizer(space, FeaturizerConfig(diffusion_order=0, use_paths=False))
    inputs = featurizer(GraphBatch.from_graphs(graphs))
    assert inputs.node_feats.shape[-1] == featurizer.feature_dim == 4
    assert featurizer.path_table.shape == (13, 0)
    assert not inputs.path_code.any()
    targets = featurizer.targets(inputs)
    assert targets.node_feature.shape[-1] == 0
    assert targets.edge_feature.shape[-1] == 0


def test_noise_is_zero_on_padding_and_scaled_elsewhere(featurizer, graphs):
    batch = GraphBatch.from_graphs(graphs)
    drawn = featurizer.draw_noise(len(batch), torch.Generator().manual_seed(0))
    for noise, raw in ((featurizer(batch).noise, None), (featurizer(batch, drawn).noise, drawn)):
        assert not noise[~batch.node_mask].any()
        assert (noise[batch.node_mask] != 0).all()
        if raw is not None:
            scaled = 0.1 * raw[:, : batch.max_nodes]
            torch.testing.assert_close(noise[batch.node_mask], scaled[batch.node_mask])


def test_no_noise_is_no_noise(space, graphs):
    featurizer = Featurizer(space, FeaturizerConfig(noise_std=0.0))
    assert not featurizer(GraphBatch.from_graphs(graphs)).noise.any()


def test_drawn_noise_is_repeated_by_its_seed_only(featurizer):
    first, again, other = (
        featurizer.draw_noise(3, torch.Generator().manual_seed(seed)) for seed in (5, 5, 6)
    )
    assert first.shape == (3, 12, featurizer.feature_dim)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(featurizer.draw_noise(3, generator), first)
    assert not torch.equal(featurizer.draw_noise(3, generator), first)  # it moves on


def test_the_noise_table_is_repeated_by_its_seed_only(space):
    tables = [
        Featurizer(space, FeaturizerConfig(noise_seed=seed)).noise_table for seed in (1, 1, 2)
    ]
    assert torch.equal(tables[0], tables[1])
    assert not torch.equal(tables[0], tables[2])


def graph_with_noise(graph, noise):
    """A graph and the noise of its nodes in a form that can be compared across orders.

    Rows of noise are distinct, so sorting the nodes by them gives the one order in which both
    graphs list the same nodes; labels and edges are compared in that order.
    """
    values = noise[: graph.num_nodes].numpy()
    assert len(np.unique(values, axis=0)) == graph.num_nodes
    order = np.lexsort(values.T)
    return graph.permuted(order), values[order]


def assert_noise_follows_the_graph(featurizer, graph, moved, max_nodes):
    batches = [GraphBatch.from_graphs([graph]), GraphBatch.from_graphs([moved], max_nodes)]
    (first, rows), (second, moved_rows) = (
        graph_with_noise(g, featurizer(batch).noise[0]) for g, batch in zip((graph, moved), batches)
    )
    assert np.array_equal(rows, moved_rows)
    assert first == second


@pytest.mark.parametrize("name", SYMMETRIC)
def test_noise_of_symmetric_graphs_does_not_depend_on_node_order(featurizer, rng, name):
    graph = Graph.from_networkx(SYMMETRIC[name])
    for _ in range(3):
        assert_noise_follows_the_graph(featurizer, graph, shuffled(graph, rng), max_nodes=12)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_noise_of_random_graphs_does_not_depend_on_node_order(rng, directed):
    space = GraphSpace(max_nodes=12, num_node_labels=2, num_edge_labels=2, directed=directed)
    featurizer = Featurizer(space, FeaturizerConfig())
    for _ in range(20):
        graph = random_graph(rng, directed=directed, num_node_labels=2)
        assert_noise_follows_the_graph(featurizer, graph, shuffled(graph, rng), max_nodes=12)


def test_noise_does_not_depend_on_batch_mates(featurizer, graphs):
    together = featurizer(GraphBatch.from_graphs(graphs)).noise
    for row, graph in enumerate(graphs):
        alone = featurizer(GraphBatch.from_graphs([graph])).noise[0]
        assert torch.equal(together[row, inside(graph)], alone)


def test_noise_by_index_would_depend_on_node_order(featurizer, rng, monkeypatch):
    by_index = lambda graphs, draws=1: featurizer.noise_table[: graphs.max_nodes][None]  # noqa: E731
    monkeypatch.setattr(featurizer, "canonical_noise", by_index)
    graph = Graph.from_networkx(SYMMETRIC["star"])
    moved = graph.permuted([1, 2, 0, 3, 4, 5, 6])
    with pytest.raises(AssertionError):
        assert_noise_follows_the_graph(featurizer, graph, moved, max_nodes=12)


def test_targets_are_labels_diffused_labels_edges_and_paths(featurizer, graphs):
    batch = GraphBatch.from_graphs(graphs)
    targets = featurizer.targets(featurizer(batch))
    assert torch.equal(targets.node_mask, batch.node_mask.float())
    for row, graph in enumerate(graphs):
        nodes = inside(graph)
        literal = torch.tensor(node_features_reference(graph, 4, 2)).float()
        assert torch.equal(targets.node_label[row, nodes], literal[:, :4])
        assert torch.equal(targets.node_feature[row, nodes], literal[:, 4:])
        labels = torch.tensor(graph.label_matrix())
        assert torch.equal(targets.edge_label[row, nodes, nodes].argmax(-1), labels)
        assert (targets.edge_label[row, nodes, nodes].sum(-1) == 1).all()
        paths = torch.tensor(
            [[path_encoding_reference(p, 6) for p in line] for line in path_length_reference(graph)]
        )
        torch.testing.assert_close(
            targets.edge_feature[row, nodes, nodes], paths.float(), atol=ATOL_FLOAT32, rtol=0
        )


def test_targets_carry_no_noise(featurizer, graphs):
    batch = GraphBatch.from_graphs(graphs)
    noise = featurizer.draw_noise(len(batch), torch.Generator().manual_seed(0))
    quiet, noisy = featurizer(batch), featurizer(batch, noise)
    assert not torch.equal(quiet.noise, noisy.noise)
    for name in ("node_label", "node_feature", "edge_label", "edge_feature"):
        first, second = (getattr(featurizer.targets(inputs), name) for inputs in (quiet, noisy))
        assert torch.equal(first, second)


def test_hidden_labels_reach_neither_the_node_nor_its_neighbours(space, graphs):
    batch = GraphBatch.from_graphs(graphs)
    config = FeaturizerConfig(noise_std=0.0, hidden_share=0.3)
    featurizer = Featurizer(space, config)
    drawn = featurizer.draw_noise(len(batch), torch.Generator().manual_seed(0))
    inputs = featurizer(batch, drawn)
    hidden = (drawn[:, : batch.max_nodes, -1] < 0.3) & batch.node_mask
    assert hidden.any()
    assert not hidden[batch.node_mask].all()
    labels = torch.nn.functional.one_hot(batch.node_labels, space.num_node_labels)
    seen = labels * (batch.node_mask & ~hidden)[..., None]
    expected = diffuse_labels(seen.float(), batch.adjacency, config.diffusion_order)
    torch.testing.assert_close(inputs.node_feats + inputs.noise, expected)
    plain = Featurizer(space, FeaturizerConfig(noise_std=0.0))(batch)
    torch.testing.assert_close(
        featurizer.targets(inputs).node_label, plain.node_feats[..., : space.num_node_labels]
    )
    assert torch.equal(featurizer(batch).noise, plain.noise)  # at inference nothing is hidden


def test_about_the_share_is_hidden(space):
    featurizer = Featurizer(space, FeaturizerConfig(hidden_share=0.2))
    drawn = featurizer.draw_noise(2_000, torch.Generator().manual_seed(0))
    assert float((drawn[..., -1] < 0.2).float().mean()) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_cannot_be_hidden_is_refused(share):
    with pytest.raises(ValueError, match="hidden_share must be in"):
        FeaturizerConfig(hidden_share=share)
