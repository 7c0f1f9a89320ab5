"""PIGVAE as a whole: order and padding change nothing, it learns, and users can call it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.codec.reconstruct import reconstruct
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import gather_nodes, permutation_to_plan, permute_batch
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic
from grale.metrics.symmetry import orbits
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.model import PIGVAE
from model.sample_graphs import random_orders, shuffled, symmetric_graphs
from strategies import generator_from, random_graph

ATOL_FLOAT32 = 1e-5
"""A few layers of unit scale, summed in another order."""
CONFIG = PigvaeConfig(
    latent_dim=12, num_layers=2, num_heads=2, message_dim=16, hidden_dim=24, position_dim=8
)
VARIATIONAL = replace(CONFIG, kl_weight=1e-3)


@pytest.fixture
def batch(rng):
    return GraphBatch.from_graphs([random_graph(rng, size) for size in (1, 2, 4, 7, 9)])


@pytest.fixture(params=[CONFIG, VARIATIONAL], ids=["deterministic", "variational"])
def model(space, request):
    torch.manual_seed(0)
    return PIGVAE(space, request.param).eval()


def noise_of(model, batch, seed=0):
    return model.draw_noise(len(batch), generator_from(seed))


def packed(noise):
    return torch.cat([noise.latent, noise.nodes.flatten(1)], dim=1)


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name], atol=ATOL_FLOAT32, rtol=1e-5)


@pytest.mark.slow
def test_the_order_of_nodes_changes_neither_embeddings_nor_losses(model, batch):
    orders = random_orders(batch, generator_from(1))
    moved = permute_batch(batch, orders)
    torch.testing.assert_close(model.embed(moved), model.embed(batch), atol=ATOL_FLOAT32, rtol=0)
    noise = model.unpacked(noise_of(model, batch), batch.max_nodes)
    moved_noise = packed(noise._replace(nodes=gather_nodes(noise.nodes, orders)))
    expected = model.losses(batch, packed(noise))
    assert_same(model.losses(moved, moved_noise), expected)
    # control: noise that stays behind belongs to other nodes
    other = model.losses(moved, packed(noise))
    assert (other["entropy"] - expected["entropy"]).abs() > ATOL_FLOAT32


def test_embeddings_tell_graphs_apart(model, batch):
    embedded = model.embed(batch)
    assert torch.pdist(embedded).min() > 1e-3


@pytest.mark.slow
def test_extra_padding_changes_neither_embeddings_nor_losses(model, batch):
    wide = batch.padded_to(12)
    torch.testing.assert_close(model.embed(wide), model.embed(batch), atol=ATOL_FLOAT32, rtol=0)
    noise = noise_of(model, batch)
    assert_same(model.losses(wide, noise), model.losses(batch, noise))


@pytest.mark.slow
def test_batch_mates_do_not_change_a_reconstruction(model, batch):
    for at_size in (True, False):
        together = model.rebuild(batch, at_size).to_graphs()
        alone = [model.rebuild(batch[[row]], at_size).to_graphs()[0] for row in range(len(batch))]
        assert together == alone


@pytest.mark.parametrize("size", [5, 8, 12])
def test_a_reconstruction_follows_the_order_of_its_graph(model, rng, size):
    """Of a graph without symmetries, whose nodes have but one order each."""
    candidates = (random_graph(rng, size) for _ in range(100))
    graph = next(graph for graph in candidates if len(orbits(graph)) == size)
    order = rng.permutation(size)
    assert order.tolist() != list(range(size))
    result, moved = reconstruct(model, [graph, graph.permuted(order)], at_size=True).graphs
    assert moved == result.permuted(order)


@pytest.mark.slow
def test_the_order_of_symmetric_nodes_does_not_change_what_comes_back(model, rng):
    graphs = symmetric_graphs()
    first = model.reconstruct(graphs)
    second = model.reconstruct([shuffled(graph, rng) for graph in graphs])
    assert all(is_isomorphic(one, other) for one, other in zip(first, second))


def test_rebuilding_at_size_is_decoding_with_the_permuted_encodings(model, batch):
    """Ranks decoded in order and then gathered, against the model's own equation."""
    result = model.rebuild(batch, at_size=True)
    encoded = model.encoder(batch)
    ranks = model.permuter.hard(encoded.nodes, batch)
    plan = permutation_to_plan(ranks)
    logits = model.decoder(encoded.latent, plan, batch.node_mask)
    expected = logits.most_likely(directed=False).padded_to(12)
    assert torch.equal(result.node_mask, expected.node_mask)
    assert torch.equal(result.node_labels, expected.node_labels)
    assert torch.equal(result.edge_labels, expected.edge_labels)
    assert torch.equal(result.node_mask, batch.padded_to(12).node_mask)


def fix_size(model, size):
    """Make the model predict this size for every graph."""
    last = model.size_head.net[-1]
    torch.nn.init.zeros_(last.weight)
    last.bias.data[:] = model.size_head.standardised(torch.tensor([size]))


def test_a_predicted_size_above_the_true_one_adds_nodes_after_the_input(model, batch):
    fix_size(model, 8)
    result = model.rebuild(batch[[2]], at_size=False)
    assert result.node_mask[0].tolist() == [True] * 8 + [False] * 4
    logits = model.logits_of(model.embed(batch[[2]]))
    ranks = model.permuter.hard(model.encoder(batch[[2]]).nodes, batch[[2]])[0, :4]
    decoded = logits.most_likely(directed=False)
    assert torch.equal(result.node_labels[0, :4], decoded.node_labels[0, ranks])
    assert torch.equal(result.node_labels[0, 4:], decoded.node_labels[0, 4:])


def test_a_predicted_size_below_the_true_one_drops_the_last_ranks(model, batch):
    fix_size(model, 3)
    result = model.rebuild(batch[[4]], at_size=False)
    ranks = model.permuter.hard(model.encoder(batch[[4]]).nodes, batch[[4]])[0]
    assert result.node_mask[0, :9].tolist() == (ranks < 3).tolist()
    assert not result.node_mask[0, 9:].any()
    assert result.edge_labels[~result.edge_mask].abs().sum() == 0


def test_logits_are_padded_symmetric_and_say_who_exists(model, batch):
    latents = model.embed(batch)
    logits = model.logits_of(latents)
    sizes = model.size_head.count(latents)
    assert logits.node_mask.shape == (5, 12)
    assert torch.equal((logits.node_mask > 0).sum(dim=1), sizes)
    edges = logits.edge_label
    torch.testing.assert_close(edges, edges.transpose(1, 2), atol=ATOL_FLOAT32, rtol=0)
    assert edges.diagonal(dim1=1, dim2=2).abs().max() == 0


def test_edges_of_directed_graphs_are_not_averaged(rng):
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=8, num_node_labels=3, num_edge_labels=2, directed=True)
    model = PIGVAE(space, CONFIG).eval()
    graphs = [random_graph(rng, size, directed=True, num_node_labels=3) for size in (3, 8)]
    batch = GraphBatch.from_graphs(graphs)
    logits = model.decoder.in_rank_order(model.embed(batch), batch.num_nodes)
    assert (logits.edge_label - logits.edge_label.transpose(1, 2)).abs().max() > 1e-3
    reverse = GraphBatch(
        batch.node_mask, batch.node_labels, batch.edge_labels.transpose(1, 2), directed=True
    )
    assert (model.embed(batch) - model.embed(reverse)).abs().max() > 1e-3
    assert all(graph.directed for graph in model.reconstruct(graphs))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("config", [CONFIG, VARIATIONAL], ids=["deterministic", "variational"])
def test_the_loss_is_the_weighted_sum_and_its_gradient_reaches_every_weight(
    space, batch, config, norm
):
    torch.manual_seed(0)
    model = PIGVAE(space, replace(config, norm=norm, dropout=0.0))
    values = model.losses(batch, noise_of(model, batch))
    terms = {"node_label", "edge_label", "entropy", "size"}
    assert values.keys() == terms | {"loss"} | ({"kl"} if config.is_variational else set())
    expected = values["node_label"] + values["edge_label"]
    expected = expected + 0.5 * values["entropy"] + 0.1 * values["size"]
    expected = expected + 1e-3 * values.get("kl", 0.0)
    torch.testing.assert_close(values["loss"], expected)
    values["loss"].backward()
    # the bias of a score moves all scores alike, and SoftSort sees differences only
    unreached = [
        name
        for name, weight in model.named_parameters()
        if weight.grad is None
        or not weight.grad.isfinite().all()
        or not weight.grad.abs().max() > 0
    ]
    assert [name for name in unreached if name != "permuter.score.bias"] == []


def test_the_noise_of_the_latent_counts_in_the_variational_model_only(model, batch):
    noise = noise_of(model, batch)
    assert noise.shape == (5, 12 * 16 + (12 if model.config.is_variational else 0))
    assert torch.equal(noise, noise_of(model, batch))
    first, second = (model(batch, noise_of(model, batch, seed)) for seed in (0, 1))
    assert torch.equal(first.encoded.latent, second.encoded.latent)
    assert torch.equal(first.size, second.size) != model.config.is_variational
    assert not torch.equal(first.permutation, second.permutation)


@pytest.mark.slow
def test_recomputing_activations_changes_no_gradient(space, batch):
    gradients = []
    for wanted in (False, True):
        torch.manual_seed(0)
        model = PIGVAE(space, CONFIG)
        model.recompute_activations(wanted)
        model.losses(batch, noise_of(model, batch))["loss"].backward()
        gradients.append(model.encoder.bottleneck.weight.grad)
    torch.testing.assert_close(*gradients, atol=ATOL_FLOAT32, rtol=0)


@pytest.mark.slow
def test_half_precision_gives_a_finite_loss_close_to_the_full_one(model, batch):
    noise = noise_of(model, batch)
    full = model.losses(batch, noise)["loss"].item()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = model.losses(batch, noise)["loss"]
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full, rel=0.05)
    half.backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


@pytest.mark.slow
def test_a_saved_model_is_the_same_when_loaded(model, coloring_graphs, tmp_path):
    model.save_pretrained(tmp_path / "model")
    loaded = PIGVAE.from_pretrained(tmp_path / "model")
    assert loaded.config == model.config
    assert loaded.space == model.space
    assert np.array_equal(loaded.encode(coloring_graphs), model.encode(coloring_graphs))
    assert loaded.reconstruct(coloring_graphs) == model.reconstruct(coloring_graphs)


@pytest.mark.slow
def test_users_encode_decode_and_reconstruct(model, coloring_graphs, rng):
    latents = model.encode(coloring_graphs)
    assert latents.shape == (16, 12)
    again = model.encode([shuffled(graph, rng) for graph in coloring_graphs], batch_size=5)
    assert np.allclose(latents, again, atol=ATOL_FLOAT32)
    decoded = model.decode(latents)
    assert len(decoded) == 16
    assert all(model.space.why_not(graph) is None for graph in decoded)
    assert [graph.num_nodes for graph in model.reconstruct(coloring_graphs)] == [
        graph.num_nodes for graph in decoded
    ]
    assert model.encode([Graph([0] * 13)], on_error="null").shape == (1, 12)


@pytest.mark.slow
def test_a_small_model_learns_a_few_graphs_by_heart(space, coloring_graphs):
    graphs = coloring_graphs[:4]
    batch = GraphBatch.from_graphs(graphs)
    torch.manual_seed(0)
    config = PigvaeConfig(
        latent_dim=32,
        num_layers=2,
        num_heads=2,
        message_dim=32,
        hidden_dim=64,
        position_dim=16,
        dropout=0.0,
        temperature=0.1,
    )
    model = PIGVAE(space, config)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator = generator_from(0)
    assert reconstruct(model, graphs, at_size=True).graphs != graphs
    for step in range(1, 401):
        model.losses(batch, model.draw_noise(len(batch), generator))["loss"].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 25 == 0 and model.reconstruct(graphs) == graphs:
            break
    assert reconstruct(model, graphs, at_size=True).graphs == graphs
    assert model.reconstruct(graphs) == graphs
