"""Weights taken over from another model."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig
from grale.training.warm_start import take_weights

SHAPE = ModelConfig(num_layers=1, node_dim=16, edge_dim=8, outer_dim=4, num_tokens=2, token_dim=8)


def model_of(max_nodes: int, config: ModelConfig = SHAPE) -> GRALE:
    return GRALE(GraphSpace(max_nodes=max_nodes, num_node_labels=4), config)


def test_a_larger_model_takes_over_everything_and_keeps_its_own_extra_slots() -> None:
    small, large = model_of(5), model_of(9)
    extra = large.decoder.stack.edge_queries[5:].clone()
    take_weights(large, small)
    assert torch.equal(large.decoder.node_queries[:5], small.decoder.node_queries)
    assert torch.equal(large.decoder.stack.edge_queries[:5, :5], small.decoder.stack.edge_queries)
    assert torch.equal(large.decoder.stack.edge_queries[5:], extra)
    taken = dict(small.named_parameters())
    assert all(
        torch.equal(weight, taken[name])
        for name, weight in large.named_parameters()
        if "queries" not in name
    )


def test_a_longer_latent_begins_with_the_tokens_of_the_shorter() -> None:
    short, long = model_of(5), model_of(5, replace(SHAPE, num_tokens=3))
    extra = long.encoder.pooling.queries[2:].clone()
    take_weights(long, short)
    assert torch.equal(long.encoder.pooling.queries[:2], short.encoder.pooling.queries)
    assert torch.equal(long.encoder.pooling.queries[2:], extra)
    with pytest.raises(ValueError, match="encoder.pooling.queries is"):
        take_weights(short, long)


def test_tokens_of_another_width_start_anew_and_the_rest_is_taken_over() -> None:
    transport = replace(SHAPE, pooling="transport", num_tokens=5)
    wide, narrow = model_of(5, transport), model_of(5, replace(transport, token_dim=4))
    fresh = narrow.encoder.pooling.narrow.weight.clone()
    take_weights(narrow, wide)
    assert torch.equal(narrow.encoder.pooling.narrow.weight, fresh)
    taken = dict(wide.named_parameters())
    other = [
        name for name, weight in narrow.named_parameters() if weight.shape != taken[name].shape
    ]
    assert sorted(name.split(".")[-2] for name in other) == ["narrow", "narrow", "to_width"]
    assert all(
        torch.equal(weight, taken[name])
        for name, weight in narrow.named_parameters()
        if name not in other
    )


def test_a_model_of_the_same_size_becomes_the_same_model() -> None:
    first, second = model_of(6), model_of(6)
    take_weights(second, first)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters()))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (model_of(9), "node_queries is"),
        (model_of(5, replace(SHAPE, node_dim=32)), "cannot start from that model"),
        (model_of(5, replace(SHAPE, num_layers=2)), "has no counterpart here"),
    ],
)
def test_what_does_not_fit_is_named(other: GRALE, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        take_weights(model_of(6), other)
