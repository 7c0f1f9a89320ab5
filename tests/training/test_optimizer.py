"""Every weight is updated once, by the right optimiser, at the scheduled rate."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from grale.model.autoencoder import GRALE
from grale.training.config import OptimizerConfig
from grale.training.optimizer import AveragedWeights, Optimizers, split_parameters
from grale.training.schedule import rate_share


def test_each_weight_belongs_to_one_optimiser(tiny_model: GRALE) -> None:
    hidden, rest = split_parameters(tiny_model)
    assert len(hidden) + len(rest) == len(list(tiny_model.parameters()))
    assert {id(p) for p in hidden}.isdisjoint(id(p) for p in rest)
    assert all(p.ndim == 2 for p in hidden)


def test_tables_queries_and_heads_are_not_hidden(tiny_model: GRALE) -> None:
    hidden = {id(p) for p in split_parameters(tiny_model)[0]}
    outside = [
        tiny_model.encoder.pooling.queries,
        tiny_model.decoder.node_queries,
        tiny_model.encoder.backbone.edge_input.edge_label,
        tiny_model.decoder.node_heads.weight,
        tiny_model.encoder.backbone.node_input.weight,
    ]
    assert not any(id(p) in hidden for p in outside)
    inside = tiny_model.encoder.backbone.evoformer.layers[0].triangle.layer.attention.project.weight
    assert id(inside) in hidden


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_a_rate_of_zero_moves_nothing_and_drops_gradients(kind: str) -> None:
    layer = nn.Linear(4, 4)
    optimizers = Optimizers(layer, OptimizerConfig(kind=kind))
    before = layer.weight.detach().clone()
    for share, moves in ((0.0, False), (1.0, True)):
        layer(torch.ones(1, 4)).sum().backward()
        optimizers.step(share)
        assert layer.weight.grad is None
        assert torch.equal(before, layer.weight) != moves


def test_cosine_and_trapezoid_start_and_end_where_they_should() -> None:
    cosine = OptimizerConfig(schedule="cosine", warmup_steps=10)
    assert rate_share(0, 0.0, cosine) == pytest.approx(0.1)
    assert rate_share(100, 0.5, cosine) == pytest.approx(0.5)
    assert rate_share(200, 1.0, cosine) == pytest.approx(0.0)
    assert rate_share(100, 0.25, cosine) == pytest.approx(0.5 * (1 + math.cos(math.pi / 4)))
    flat = OptimizerConfig(schedule="trapezoid", warmup_steps=0, decay_share=0.2)
    assert [rate_share(0, p, flat) for p in (0.0, 0.5, 0.8, 0.9, 1.0, 1.5)] == pytest.approx(
        [1, 1, 1, 0.5, 0, 0]
    )


def test_the_average_follows_the_weights() -> None:
    layer = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(layer.weight)
    average = AveragedWeights(layer, decay=0.9)
    nn.init.ones_(layer.weight)
    for step in range(200):
        average.update(layer, step)
    assert average.weights[0].item() == pytest.approx(1.0, abs=1e-6)
    average.update(layer, 10_000)
    nn.init.zeros_(layer.weight)
    average.update(layer, 10_000)
    assert average.weights[0].item() == pytest.approx(0.9, abs=1e-6)


def test_without_decay_the_average_is_the_weights() -> None:
    layer = nn.Linear(2, 2)
    average = AveragedWeights(layer, decay=0.0)
    nn.init.ones_(layer.weight)
    average.update(layer, 0)
    assert torch.equal(average.weights[0], layer.weight)


def test_warm_up_fits_a_time_budget() -> None:
    slow = OptimizerConfig(schedule="trapezoid", warmup_steps=4_000, decay_share=0.2)
    assert rate_share(99, 0.5, slow) == pytest.approx(0.025)  # without a budget, steps count
    assert rate_share(99, 0.5, slow, has_budget=True) == 1.0
    assert rate_share(99, 0.05, slow, has_budget=True) == pytest.approx(0.5)
    quick = OptimizerConfig(schedule="trapezoid", warmup_steps=10)
    assert rate_share(9, 0.001, quick, has_budget=True) == 1.0  # never longer than asked for
