"""Pooling by transport: its equations, word for word, and what every encoder owes."""

from dataclasses import replace

import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import permutation_to_plan, permute_batch
from grale.model.autoencoder import GRALE
from grale.model.matcher import SinkhornMatcher, hard_plan
from grale.transport.partial_fgw import move_edges
from model.encoder_checks import (
    WholeEncoder,
    change_under_padding,
    change_under_permutation,
    with_random_noise,
)
from model.sample_graphs import symmetric_graphs
from strategies import random_graph

ATOL = {torch.float32: 1e-4, torch.float64: 1e-8}  # four layers of normalised values
ATOL_PADDING = 1e-4  # the same sums over more zeros, in float32, also inside Sinkhorn


@pytest.fixture(scope="module")
def config(tiny_config):
    return replace(tiny_config, pooling="transport", num_tokens=12)


@pytest.fixture
def graphs(rng):
    return [*symmetric_graphs(), *(random_graph(rng) for _ in range(4)), random_graph(rng, 12)]


def build(space, config, training=False):
    torch.manual_seed(0)
    return WholeEncoder(space, config).train(training)


@pytest.fixture(params=[True, False], ids=["training", "inference"])
def training(request):
    """Sinkhorn's plan, or the exact assignment."""
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_permuting_the_input_permutes_nodes_and_leaves_the_latent(
    space, config, graphs, dtype, training
):
    encoder = build(space, config, training=training).to(dtype)
    inputs = with_random_noise(encoder, graphs)
    assert encoder(inputs).latent.std(dim=0).max() > 100 * ATOL[torch.float32]  # graphs differ
    for change in change_under_permutation(encoder, inputs):
        assert change < ATOL[dtype]


@pytest.mark.slow
def test_a_plan_that_keeps_the_listed_order_breaks_the_order_test(space, config, graphs):
    class Listed(SinkhornMatcher):
        def hard(self, nodes, slots):
            return torch.arange(nodes.shape[1]).expand(len(nodes), -1)

    encoder = build(space, config)
    encoder.matcher = Listed(config.node_dim, config.matcher)
    change_of_latent = change_under_permutation(encoder, with_random_noise(encoder, graphs))[1]
    assert change_of_latent > 100 * ATOL[torch.float32]


@pytest.mark.slow
def test_padding_and_batch_mates_change_nothing(space, config, graphs, training):
    assert {graph.num_nodes for graph in graphs} >= {1, 12}
    encoder = build(space, config, training=training)
    assert change_under_padding(encoder, graphs) < ATOL_PADDING


def test_edges_carried_by_a_permutation_are_permuted():
    graphs = GraphBatch.from_graphs([Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2])])
    order = torch.tensor([[2, 0, 1]])
    plan = permutation_to_plan(order).transpose(1, 2)  # node order[j] goes to slot j
    carried = move_edges(plan, graphs.edge_labels[..., None].float())
    assert torch.equal(carried[..., 0].long(), permute_batch(graphs, order).edge_labels)


@pytest.mark.slow
def test_the_forward_pass_is_the_equations_of_the_module(space, config, graphs, training):
    model = GRALE(space, config).train(training)
    batch = GraphBatch.from_graphs(graphs)
    inputs = model.featurizer(batch)
    encoder, (nodes, latent, result) = model.encoder, model.encoder(inputs, model.matcher)
    pooling, (hidden, edges) = encoder.pooling, encoder.backbone(inputs)
    real = batch.node_mask
    torch.testing.assert_close(nodes[:, : real.shape[1]][real], encoder.node_output(hidden)[real])
    keys = pooling.keys.expand(len(batch), -1, -1)
    expected = model.matcher(nodes, keys) if training else hard_plan(model.matcher, nodes, keys)
    assert torch.equal(result.known.log_plan, expected.log_plan)
    plan = result.known.log_plan.exp()
    slots = pooling.queries + pooling.carry(torch.einsum("bij,bid->bjd", plan, nodes))
    rows = plan[:, : real.shape[1]] * real[..., None]
    carried = torch.einsum("bij,bikd,bkl->bjld", rows, edges, rows)
    tokens = pooling.narrow(pooling.layers(slots, carried))
    torch.testing.assert_close(latent, tokens, atol=1e-5, rtol=1e-5)


@pytest.mark.slow
def test_the_plan_is_soft_in_training_and_an_assignment_at_inference(space, config, graphs):
    model = GRALE(space, config)
    inputs = model.featurizer(GraphBatch.from_graphs(graphs))
    soft, hard = (
        model.train(training).encoder(inputs, model.matcher).plan.known.log_plan.exp()
        for training in (True, False)
    )
    assert soft.max(dim=2).values.min() < 0.9
    assert ((hard > 0.5).sum(dim=1) == 1).all()
    assert ((hard > 0.5).sum(dim=2) == 1).all()
    assert hard[hard < 0.5].max() < 1e-9
    best = (soft.log() * hard).sum(dim=(1, 2))
    for _ in range(20):  # no other assignment is likelier under the soft plan
        others = soft.log()[:, :, torch.randperm(12)].diagonal(dim1=1, dim2=2).sum(dim=1)
        assert (others <= best + 1e-3).all()


@pytest.mark.slow
def test_the_loss_takes_the_plan_that_pooled(space, config, graphs, training):
    model = GRALE(space, config).train(training)
    batch = GraphBatch.from_graphs(graphs)
    plan = model.encoder(model.featurizer(batch), model.matcher).plan.known
    assert torch.equal(model(batch).plan.log_plan, plan.log_plan)


@pytest.mark.slow
def test_a_reconstruction_has_the_nodes_in_the_order_of_the_input(space, config, rng):
    model = GRALE(space, config).eval()
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    graph = random_graph(rng, 12)
    moved = graph.permuted(order.numpy())
    first, second = (
        model.rebuild(GraphBatch.from_graphs([listed]), at_size=True).to_graphs()[0]
        for listed in (graph, moved)
    )
    assert first.permuted(order.numpy()) == second


@pytest.mark.slow
def test_latents_are_as_long_as_all_tokens(space, config, graphs):
    model = GRALE(space, replace(config, token_dim=3)).eval()
    assert model.encode(graphs).shape == (len(graphs), 36)


def test_another_number_of_tokens_than_slots_is_refused(space, config):
    with pytest.raises(ValueError, match="num_tokens=5 and graphs have up to 12 nodes"):
        GRALE(space, replace(config, num_tokens=5))


@pytest.mark.parametrize("change", [{"encoder": "gin"}, {"matcher": "softsort"}])
def test_what_has_no_such_plan_is_refused(config, change):
    if "matcher" in change:
        change = {"matcher": replace(config.matcher, kind="softsort")}
    with pytest.raises(ValueError, match="pooling=transport needs"):
        replace(config, **change)
