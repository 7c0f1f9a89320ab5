"""Descriptions: the equations, slots, rows that fail, gradients, for GRALE and rivals alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.catalog import ARCHITECTURES
from grale.codec.describe import bond_probability, pool_states
from grale.codec.logits import GraphLogits
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.training.config import TrainConfig


def random_logits(generator: torch.Generator) -> GraphLogits:
    def draw(*shape: int) -> torch.Tensor:
        return 2 * torch.randn(*shape, generator=generator)

    pairs = draw(2, 5, 5, 3)
    return GraphLogits(draw(2, 5), draw(2, 5, 4), draw(2, 5, 0), pairs, draw(2, 5, 5, 0))


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_pooling_is_its_literal_sums(generator: torch.Generator) -> None:
    logits = random_logits(generator)
    nodes, pairs = torch.randn(2, 5, 6), torch.randn(2, 5, 5, 7)
    found = pool_states(nodes, pairs, logits)
    for row in range(2):
        exists = [float(torch.sigmoid(score)) for score in logits.node_mask[row]]
        total = sum(p * nodes[row, j] for j, p in enumerate(exists))
        most = torch.stack([nodes[row, j] + np.log(p) for j, p in enumerate(exists)]).amax(0)
        mass, bonds = 0.0, torch.zeros(7)
        for j in range(5):
            for k in range(5):
                none = float(logits.edge_label[row, j, k].softmax(0)[0])
                weight = 0.0 if j == k else exists[j] * exists[k] * (1 - none)
                mass, bonds = mass + weight, bonds + weight * pairs[row, j, k]
        literal = torch.cat([total / 8, total / sum(exists), most, bonds / 16, bonds / mass])
        torch.testing.assert_close(found[row], literal, atol=1e-5, rtol=1e-5)


def test_the_order_of_the_slots_changes_nothing(generator: torch.Generator) -> None:
    logits, order = random_logits(generator), torch.tensor([3, 0, 4, 1, 2])
    nodes, pairs = torch.randn(2, 5, 6), torch.randn(2, 5, 5, 7)
    moved = GraphLogits(
        logits.node_mask[:, order],
        logits.node_label[:, order],
        logits.node_feature[:, order],
        logits.edge_label[:, order][:, :, order],
        logits.edge_feature[:, order][:, :, order],
    )
    again = pool_states(nodes[:, order], pairs[:, order][:, :, order], moved)
    torch.testing.assert_close(again, pool_states(nodes, pairs, logits), atol=1e-5, rtol=1e-5)
    plain = pool_states(nodes, pairs[:, order][:, :, order], moved)  # slots and states disagree
    assert (plain - again).abs().max() > 1e-2


def test_slots_that_do_not_exist_say_nothing(generator: torch.Generator) -> None:
    logits = random_logits(generator)
    logits.node_mask[:, 3:] = -50.0
    logits.node_mask[:, :3] = 50.0
    nodes, pairs = torch.randn(2, 5, 6), torch.randn(2, 5, 5, 7)
    before = pool_states(nodes, pairs, logits)
    nodes[:, 3:] += 5
    pairs[:, 3:] += 5
    pairs[:, :, 3:] += 5
    torch.testing.assert_close(pool_states(nodes, pairs, logits), before)
    assert bond_probability(logits)[:, 3:].max() < 1e-9


@pytest.fixture(params=sorted(ARCHITECTURES))
def model(request: pytest.FixtureRequest, space, tiny_config):
    torch.manual_seed(0)
    kind = ARCHITECTURES[request.param]
    config = tiny_config
    if kind is not GRALE:
        config = TrainConfig(architecture=request.param).architecture_config
    return kind(space, config).eval()


def test_every_architecture_describes_graphs_and_latents(model, coloring_graphs, rng) -> None:
    described = model.describe(coloring_graphs)
    assert described.shape == (len(coloring_graphs), model.description_dim)
    assert described.dtype == np.float32
    latents = model.encode(coloring_graphs)
    np.testing.assert_allclose(model.describe(latents), described, atol=1e-5)
    np.testing.assert_allclose(model.describe(latents, batch_size=3), described, atol=1e-4)
    moved = [graph.permuted(rng.permutation(graph.num_nodes)) for graph in coloring_graphs]
    np.testing.assert_allclose(model.describe(moved), described, atol=1e-3)
    assert described.std(axis=0).max() > 1e-3  # graphs differ


def test_gradients_reach_the_latent(model, coloring_graphs) -> None:
    latents = torch.tensor(model.encode(coloring_graphs[:3])).requires_grad_()
    model.description_of(latents).square().sum().backward()
    assert latents.grad.isfinite().all()
    assert latents.grad.abs().max() > 0


@pytest.mark.slow
def test_rows_that_fail_keep_their_place(tiny_model, coloring_graphs) -> None:
    items = [coloring_graphs[0], Graph([0] * 40), coloring_graphs[1]]
    rows = tiny_model.describe(items, on_error="null")
    assert np.isnan(rows[1]).all()
    assert np.isfinite(rows[[0, 2]]).all()
    assert np.array_equal(tiny_model.describe(items, on_error="skip"), rows[[0, 2]])
    latents = tiny_model.encode(items, on_error="null")
    assert np.array_equal(tiny_model.describe(latents, on_error="null"), rows, equal_nan=True)
    assert np.array_equal(tiny_model.describe(latents, on_error="skip"), rows[[0, 2]])
    with pytest.raises(ValueError, match="row 1 of the latents is not finite"):
        tiny_model.describe(latents)
    with pytest.raises(ValueError, match="item 1: the graph has 40 nodes"):
        tiny_model.describe(items)
    with pytest.raises(ValueError, match="expected latents of shape"):
        tiny_model.describe(latents[:, :3])


def test_tokens_on_a_sphere_have_one_length(space, tiny_config, coloring_graphs) -> None:
    config = replace(tiny_config, latent=replace(tiny_config.latent, on_sphere=True))
    model = GRALE(space, config).eval()
    tokens = model.encode(coloring_graphs).reshape(len(coloring_graphs), 2, 8)
    np.testing.assert_allclose(np.square(tokens).sum(axis=2), 8.0, rtol=1e-4)
