"""Training terms beyond the paper: noise on tokens, and heads on the description."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.colours import NUM_COUNTS, colour_counts
from grale.model.autoencoder import GRALE
from grale.model.beyond.description import pool_decoded
from grale.model.config import DescriptionConfig, LatentConfig


@pytest.fixture
def batch(coloring_graphs):
    return GraphBatch.from_graphs(coloring_graphs)


@pytest.fixture
def known(rng):
    values = rng.standard_normal((16, 3)).astype(np.float32) * [1, 10, 100] + [0, 5, -50]
    return torch.tensor(values, dtype=torch.float32)


def build(space, config, **description) -> GRALE:
    torch.manual_seed(0)
    names = ("a", "b", "c") if "properties" in description else ()
    wanted = DescriptionConfig(**description, property_names=names)
    return GRALE(space, replace(config, description=wanted))


@pytest.mark.slow
def test_terms_are_off_unless_asked_for(tiny_model, batch) -> None:
    noise = tiny_model.draw_noise(len(batch), torch.Generator().manual_seed(0))
    values = tiny_model.losses(batch, noise)
    assert not {"counts", "properties"} & values.keys()
    assert list(tiny_model.heads.parameters()) == []
    assert noise.shape == (16, 12 * tiny_model.featurizer.feature_dim)


@pytest.mark.slow
def test_the_loss_is_the_papers_and_the_weighted_errors(space, tiny_config, batch, known) -> None:
    model = build(space, tiny_config, counts=0.3, properties=0.7)
    model.heads.set_spread((0.0, 5.0, -50.0), (1.0, 10.0, 100.0))
    noise = model.draw_noise(len(batch), torch.Generator().manual_seed(0))
    values = model.eval().losses(batch, noise, known)
    with torch.no_grad():
        result = model(batch, *model.split_noise(noise))
        described = pool_decoded(result.decoded)
        wanted = (known - torch.tensor([0.0, 5.0, -50.0])) / torch.tensor([1.0, 10.0, 100.0])
        properties = (model.heads.property_head(described) - wanted.clamp(-5, 5)).square().mean()
        standard = colour_counts(batch).log1p().clamp(-5, 5)  # no statistics yet: mean 0, square 1
        counts = (model.heads.count_head(described) - standard).square().mean()
        total = result.terms.total(model.config.loss) + 0.3 * counts + 0.7 * properties
    torch.testing.assert_close(values["properties"], properties)
    torch.testing.assert_close(values["counts"], counts, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(values["loss"].detach(), total, atol=1e-3, rtol=1e-3)


@pytest.mark.slow
def test_unknown_properties_cost_nothing(space, tiny_config, batch, known) -> None:
    model = build(space, tiny_config, properties=1.0).eval()
    noise = model.draw_noise(len(batch), torch.Generator().manual_seed(0))
    some = known.clone()
    some[:, 1] = float("nan")
    some[3:, 2] = float("inf")
    values = model.losses(batch, noise, some)
    values["loss"].backward()
    assert values["loss"].isfinite()
    head = model.heads.property_head
    assert head.weight.grad[1].abs().max() == 0
    assert head.weight.grad[0].abs().max() > 0
    assert "properties" not in model.losses(batch, noise, None)


@pytest.mark.slow
def test_gradients_of_the_heads_reach_encoder_and_decoder(space, tiny_config, batch) -> None:
    model = build(space, tiny_config, counts=1.0)
    model.heads.losses(model(batch).decoded, batch, None)["counts"].backward()
    reached = {name.split(".")[0] for name, w in model.named_parameters() if w.grad is not None}
    assert {"encoder", "decoder", "heads"} <= reached


def test_running_statistics_standardise_the_counts(space, tiny_config, batch) -> None:
    model = build(space, tiny_config, counts=1.0).train()
    for _ in range(50):
        targets = model.heads._standard_counts(batch)
    spread = colour_counts(batch).log1p().std(dim=0) > 0.3
    assert spread.any()
    assert targets[:, spread].mean(dim=0).abs().max() < 0.05
    assert (targets[:, spread].std(dim=0) - 1).abs().max() < 0.1
    before = model.heads.count_mean.clone()
    model.eval().heads._standard_counts(batch)
    assert torch.equal(before, model.heads.count_mean)
    assert before.shape == (NUM_COUNTS,)


@pytest.mark.slow
def test_noise_on_tokens_is_drawn_scaled_and_added(space, tiny_config, batch) -> None:
    config = replace(tiny_config, latent=LatentConfig(on_sphere=True, noise_std=0.3))
    model = GRALE(space, config).eval()
    noise = model.draw_noise(2_000, torch.Generator().manual_seed(0))
    on_nodes, on_tokens = model.split_noise(noise)
    assert on_nodes.shape == (2_000, 12, model.featurizer.feature_dim)
    assert on_tokens.shape == (2_000, 2, 8)
    assert float(on_tokens.std()) == pytest.approx(0.3, rel=0.02)
    quiet = model(batch, on_nodes[:16])
    loud = model(batch, on_nodes[:16], on_tokens[:16])
    assert torch.equal(quiet.latent, loud.latent)  # the encoder does not see it
    again = model.decoder(quiet.latent + on_tokens[:16]).logits
    assert torch.equal(again.node_mask, loud.decoded.logits.node_mask)
    assert not torch.equal(again.node_mask, quiet.decoded.logits.node_mask)


@pytest.mark.slow
def test_bad_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="counts must be at least 0"):
        DescriptionConfig(counts=-1.0)
    with pytest.raises(ValueError, match="noise_std must be at least 0"):
        LatentConfig(noise_std=-0.1)
