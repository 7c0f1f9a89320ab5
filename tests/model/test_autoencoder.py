from dataclasses import fields, replace

import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import FeaturizerConfig, LossConfig
from grale.model.loss import reconstruction_loss
from grale.nn.recompute import RecomputingStack
from strategies import random_graph

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(rng):
    return GraphBatch.from_graphs([random_graph(rng, size) for size in (1, 4, 7, 9)])


def test_forward_is_the_algorithm_of_the_paper(tiny_model, batch):
    result = tiny_model(batch)
    inputs = tiny_model.featurizer(batch)
    nodes, latent = tiny_model.encoder(inputs, tiny_model.matcher)[:2]
    slots, logits, _ = tiny_model.decoder(latent)
    log_plan, marginal_error = tiny_model.matcher(nodes, slots)
    targets = tiny_model.featurizer.targets(inputs)
    terms = reconstruction_loss(targets, logits, log_plan, tiny_model.config.loss)
    assert torch.equal(result.latent, latent)
    assert torch.equal(result.plan.log_plan, log_plan)
    assert torch.equal(result.plan.marginal_error, marginal_error)
    assert torch.equal(result.decoded.logits.edge_label, logits.edge_label)
    for f in fields(terms):
        assert torch.equal(getattr(result.terms, f.name), getattr(terms, f.name))


def test_forward_without_noise_is_repeatable_and_with_noise_follows_it(tiny_model, batch):
    noise, other = (
        tiny_model.featurizer.draw_noise(len(batch), torch.Generator().manual_seed(seed))
        for seed in (0, 1)
    )
    assert torch.equal(tiny_model(batch).latent, tiny_model(batch).latent)
    assert torch.equal(tiny_model(batch, noise).latent, tiny_model(batch, noise).latent)
    assert not torch.equal(tiny_model(batch, noise).latent, tiny_model(batch, other).latent)


def test_wider_padding_changes_neither_latent_nor_loss(tiny_model, batch):
    narrow, wide = tiny_model(batch), tiny_model(batch.padded_to(12))
    torch.testing.assert_close(wide.latent, narrow.latent, atol=1e-5, rtol=0)
    for f in fields(narrow.terms):
        torch.testing.assert_close(
            getattr(wide.terms, f.name), getattr(narrow.terms, f.name), atol=1e-4, rtol=1e-4
        )


def settings(tiny_config):
    """Every variant that changes which weights exist or how they are used."""
    matcher = tiny_config.matcher
    first_order = FeaturizerConfig(diffusion_order=0, use_paths=False)
    return {
        "tiny": tiny_config,
        "post-norm": replace(tiny_config, norm="post"),
        "hidden layers": replace(tiny_config, node_hidden_dim=12, edge_hidden_dim=10),
        "l1": replace(tiny_config, matcher=replace(matcher, affinity="l1", temperature=1.0)),
        "few sweeps": replace(tiny_config, matcher=replace(matcher, grad_sweeps=2)),
        "first order": replace(tiny_config, featurizer=first_order),
        "pigvae": replace(tiny_config, loss=LossConfig(objective="pigvae", normalise_by="size")),
        "transport": replace(tiny_config, pooling="transport", num_tokens=8),
    }


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "tiny",
        "post-norm",
        "hidden layers",
        "l1",
        "few sweeps",
        "first order",
        "pigvae",
        "transport",
    ],
)
def test_the_loss_is_finite_and_its_gradient_reaches_every_weight(tiny_config, rng, name, directed):
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=8, num_node_labels=3, num_edge_labels=2, directed=directed)
    model = GRALE(space, settings(tiny_config)[name])
    graphs = [random_graph(rng, size, directed=directed, num_node_labels=3) for size in (2, 5, 8)]
    loss = model(GraphBatch.from_graphs(graphs)).terms.total(model.config.loss)
    loss.backward()
    assert loss.isfinite()
    unreached = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None
        or not parameter.grad.isfinite().all()
        or not parameter.grad.abs().max() > 0
    ]
    assert unreached == []


def test_the_latent_is_the_only_way_from_graph_to_prediction(tiny_model, batch):
    """Two graphs with one latent would get one prediction: logits come from it alone."""
    result = tiny_model(batch)
    again = tiny_model.decoder(result.latent).logits
    for f in fields(again):
        assert torch.equal(getattr(again, f.name), getattr(result.decoded.logits, f.name))


def test_one_step_of_descent_lowers_the_loss(tiny_model, batch):
    before = tiny_model(batch).terms.total(tiny_model.config.loss)
    before.backward()
    with torch.no_grad():
        for parameter in tiny_model.parameters():
            parameter -= 1e-3 * parameter.grad
        after = tiny_model(batch).terms.total(tiny_model.config.loss)
    assert after < before


@pytest.mark.parametrize(
    ("dtype", "pooling", "affinity", "norm"),  # any two values of two of them meet
    [
        (torch.bfloat16, "attention", "l1", "pre"),
        (torch.bfloat16, "transport", "sphere", "post"),
        (torch.float16, "attention", "sphere", "post"),
        (torch.float16, "transport", "l1", "post"),
        (torch.float16, "transport", "sphere", "pre"),
    ],
)
def test_half_precision_gives_a_finite_loss_close_to_the_full_one(
    space, tiny_config, batch, norm, affinity, pooling, dtype
):
    torch.manual_seed(0)
    matcher = replace(tiny_config.matcher, affinity=affinity)
    tokens = {"attention": tiny_config.num_tokens, "transport": space.max_nodes}[pooling]
    config = replace(tiny_config, norm=norm, matcher=matcher, pooling=pooling, num_tokens=tokens)
    model = GRALE(space, config)
    full = model(batch)
    with torch.autocast("cpu", dtype=dtype):
        half = model(batch)
        loss = half.terms.total(model.config.loss)
    assert half.decoded.logits.node_mask.dtype == dtype  # the layers did run in half precision
    assert half.plan.log_plan.dtype == half.plan.marginal_error.dtype == torch.float32
    assert all(getattr(half.terms, f.name).dtype == torch.float32 for f in fields(half.terms))
    assert loss.isfinite()
    # eight bits leave a few per cent after four stacks; nothing worse may happen
    expected = float(full.terms.total(model.config.loss).detach())
    assert float(loss.detach()) == pytest.approx(expected, rel=0.1)
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_a_model_in_double_precision_runs_forward_and_agrees(tiny_model, batch):
    single = tiny_model(batch).terms.total(tiny_model.config.loss)
    double = tiny_model.double()(batch)
    assert double.plan.log_plan.dtype == torch.float64
    total = double.terms.total(tiny_model.config.loss)
    assert float(total.detach()) == pytest.approx(float(single.detach()), rel=1e-3)


def test_every_stack_recomputes_if_asked_and_a_model_without_one_refuses(space, tiny_config):
    model = GRALE(space, tiny_config)
    model.recompute_activations(True)
    stacks = [part for part in model.modules() if isinstance(part, RecomputingStack)]
    assert len(stacks) == 2  # the Evoformers of encoder and decoder
    assert all(stack.recomputes for stack in stacks)
    without = GRALE(space, replace(tiny_config, encoder="gin", decoder="transformer"))
    without.recompute_activations(False)
    with pytest.raises(ValueError, match="no part of this grale model can recompute"):
        without.recompute_activations(True)
