"""GraphVAE as an autoencoder: orders, padding, losses, reconstruction, files."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
import torch

from grale.codec.reconstruct import reconstruct
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import permute_batch, random_permutations
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.graphvae.loss import reconstruction_terms
from grale.rivals.graphvae.model import GraphVAE
from rivals.rival_checks import (
    SPACES,
    batch_of,
    check_padding,
    gaps_of_changes,
    losses_of,
    with_statistics,
)
from strategies import random_graph

ATOL_FLOAT32 = 1e-5  # sums of some hundred terms of order one
SMALL = GraphVaeConfig(latent_dim=16, encoder_dim=32, pool_dim=24, decoder_dims=(32, 48))


@pytest.fixture(params=[False, True], ids=["undirected", "directed"])
def directed(request):
    return request.param


@pytest.fixture
def model(directed):
    """A model whose running statistics are not those it was made with."""
    torch.manual_seed(0)
    return with_statistics(GraphVAE(SPACES[directed], SMALL))


@pytest.fixture
def batch(rng, directed):
    return batch_of(rng, (1, 4, 6, 7), directed)


def noise_of(model, batch):
    return model.draw_noise(len(batch), torch.Generator().manual_seed(3))


def shuffled(batch, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return permute_batch(batch, random_permutations(batch.num_nodes, batch.max_nodes, generator))


def test_latent_does_not_depend_on_node_order(model, batch):
    moved = shuffled(batch)
    assert not torch.equal(moved.edge_labels, batch.edge_labels)
    torch.testing.assert_close(model.embed(moved), model.embed(batch), atol=1e-5, rtol=0)


def test_latent_depends_on_node_labels_edges_edge_labels_and_direction(directed):
    torch.manual_seed(0)
    model = GraphVAE(SPACES[directed], SMALL).eval()
    gaps = gaps_of_changes(model)
    assert gaps[1:4].min() > 1e-3
    assert (gaps[4] > 1e-3) == directed


@pytest.mark.parametrize("training", [False, True])
def test_extra_padding_changes_nothing(model, batch, training):
    check_padding(model, batch, training)


def losses_in_two_orders(model, batch):
    """Each graph's loss in two orders of its nodes, matched, and without matching."""
    noise, moved = noise_of(model, batch), shuffled(batch)
    first, second = model(batch, noise), model(moved, noise)
    size = model.space.max_nodes
    unmatched = [
        reconstruction_terms(graphs.padded_to(size), first.prediction).total()
        for graphs in (batch, moved)
    ]
    return [first.terms.total(), second.terms.total()], unmatched


@pytest.mark.parametrize("training", [False, True])
def test_loss_does_not_depend_on_node_order(rng, directed, training):
    graphs = []
    while len(graphs) < 6:  # connected: an isolated node vanishes from x, and ties remain
        graph = random_graph(rng, 3 + len(graphs), directed, 3, 2, 0.6)
        labels = rng.permutation(9)[: graph.num_nodes]
        if networkx.is_connected(networkx.Graph(graph.to_networkx())):
            graphs.append(Graph(labels, graph.edges, graph.edge_labels, directed))
    torch.manual_seed(0)
    model = GraphVAE(replace(SPACES[directed], num_node_labels=9), SMALL).train(training)
    matched, unmatched = losses_in_two_orders(model, GraphBatch.from_graphs(graphs))
    torch.testing.assert_close(*matched, atol=1e-4, rtol=1e-4)
    assert (unmatched[0] - unmatched[1]).abs().min() > 1e-3


def test_loss_does_not_depend_on_node_order_where_matchings_tie(coloring_graphs):
    torch.manual_seed(0)
    model = GraphVAE(GraphSpace(max_nodes=10, num_node_labels=4), SMALL)
    matched, unmatched = losses_in_two_orders(model, GraphBatch.from_graphs(coloring_graphs))
    same, same_unmatched = ((a - b).abs() < 1e-4 for a, b in (matched, unmatched))
    assert same.all()
    assert same_unmatched.float().mean() < 0.3


def test_batch_mates_change_nothing_at_inference(model, batch):
    alone = torch.cat([model.embed(batch[[row]]) for row in range(len(batch))])
    torch.testing.assert_close(alone, model.embed(batch), atol=ATOL_FLOAT32, rtol=0)


def test_the_loss_is_the_sum_of_its_parts_and_reaches_every_weight(model, batch):
    model.train()
    found = losses_of(model, batch)
    parts = [found[name] for name in ("existence", "adjacency", "node_label", "edge_label", "kl")]
    torch.testing.assert_close(found["loss"], torch.stack(parts).sum())
    lighter = GraphVAE(model.space, replace(SMALL, kl_weight=0.0))
    lighter.load_state_dict(model.state_dict())
    lighter.train()
    torch.testing.assert_close(losses_of(lighter, batch)["loss"], found["loss"] - found["kl"])
    found["loss"].backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_noise_moves_the_sample_and_follows_the_generator(model, batch):
    assert torch.equal(noise_of(model, batch), noise_of(model, batch))
    assert noise_of(model, batch).shape == (4, 16)
    latent = model.encoder(batch)
    assert torch.equal(latent.sample(torch.zeros(4, 16)), latent.mean)
    deviation = latent.sample(torch.ones(4, 16)) - latent.mean
    torch.testing.assert_close(deviation.square(), latent.log_variance.exp())


def test_predictions_are_mirrored_exactly_in_undirected_spaces(model, directed):
    prediction = model.decoder(torch.randn(3, 16))
    for pairs in (prediction.adjacency, prediction.edge_label):
        assert torch.equal(pairs, pairs.transpose(1, 2)) == (not directed)
    upper = prediction.adjacency[0].triu().flatten()
    assert len(upper[upper != 0].unique()) == 9 * 10 // 2


def test_with_a_spanning_tree_decoded_graphs_are_connected():
    torch.manual_seed(0)
    latents = 3 * np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
    plain = GraphVAE(SPACES[False], SMALL)
    with torch.no_grad():
        plain.decoder.adjacency_head.weight.mul_(8)
    joined = GraphVAE(SPACES[False], replace(SMALL, spanning_tree=True))
    joined.load_state_dict(plain.state_dict())
    connected = [
        [networkx.is_connected(graph.to_networkx()) for graph in model.decode(latents)]
        for model in (plain, joined)
    ]
    assert not all(connected[0])
    assert all(connected[1])
    with pytest.raises(ValueError, match="undirected"):
        GraphVAE(SPACES[True], replace(SMALL, spanning_tree=True))


def test_rebuilt_nodes_stand_where_the_matching_puts_them(model, batch):
    rebuilt = model.rebuild(batch, at_size=True)
    assert rebuilt.max_nodes == 9
    assert torch.equal(rebuilt.num_nodes, batch.num_nodes)
    still = model(batch, torch.zeros(4, 16))
    matched = still.prediction.reordered(still.permutation)
    columns = batch.node_mask & rebuilt.node_mask[:, : batch.max_nodes]
    labels = matched.node_label.argmax(-1)[:, : batch.max_nodes]
    assert bool(columns.any())
    assert torch.equal(rebuilt.node_labels[:, : batch.max_nodes][columns], labels[columns])


def test_users_can_encode_decode_and_reconstruct(model, batch):
    graphs = batch.to_graphs()
    latents = model.encode(graphs)
    assert latents.shape == (4, model.latent_dim)
    assert all(graph.directed == batch.directed for graph in model.decode(latents))
    assert len(model.reconstruct(graphs)) == 4


@pytest.mark.slow
def test_a_saved_model_is_the_same_with_its_running_statistics(model, batch, tmp_path):
    assert not torch.equal(model.encoder.norms[0].running_mean, torch.zeros(32))
    model.save_pretrained(tmp_path)
    loaded = GraphVAE.from_pretrained(tmp_path)
    assert loaded.config == model.config
    assert loaded.space == model.space
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
    assert torch.equal(loaded.embed(batch), model.embed(batch))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("latent_dim", 0),
        ("num_convolutions", 0),
        ("decoder_dims", ()),
        ("decoder_dims", (8, 0)),
        ("kl_weight", -1.0),
        ("matching_iterations", 0),
        ("aggregation", "max"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        replace(SMALL, **{name: value})


@pytest.mark.slow
def test_it_memorises_a_handful_of_graphs(coloring_graphs):
    graphs = coloring_graphs[:6]
    torch.manual_seed(0)
    config = replace(SMALL, encoder_dim=64, decoder_dims=(128, 128), kl_weight=1e-4)
    model = GraphVAE(GraphSpace(max_nodes=10, num_node_labels=4), config)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    batch = GraphBatch.from_graphs(graphs)
    generator = torch.Generator().manual_seed(0)
    for _ in range(160):
        model.losses(batch, model.draw_noise(6, generator))["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
    found = reconstruct(model, graphs)
    assert all(is_isomorphic(first, second) for first, second in zip(found.graphs, graphs))
