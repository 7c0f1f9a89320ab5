"""Permuter, size head, loss and settings of PIGVAE."""

import math

import pytest
import torch

from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import permutation_to_plan, permute_batch
from grale.graphs.space import GraphSpace
from grale.nn.gaussian import GaussianLatent
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.decoder import SizeHead
from grale.rivals.pigvae.loss import permutation_entropy, reconstruction_terms
from grale.rivals.pigvae.permuter import Permuter
from grale.transport.assignment import assign
from grale.transport.softsort import soft_sort
from model.sample_graphs import random_orders, symmetric_graphs
from strategies import generator_from, random_graph

ATOL_FLOAT32 = 1e-6
SIZES = (1, 4, 7, 9)
CONFIG = PigvaeConfig(message_dim=8, num_heads=2, latent_dim=6)


@pytest.fixture
def batch(rng):
    return GraphBatch.from_graphs([random_graph(rng, size) for size in SIZES])


@pytest.fixture
def permuter(space):
    torch.manual_seed(0)
    return Permuter(space, CONFIG)


@pytest.fixture
def states(batch):
    generator = generator_from(0)
    return [torch.randn(*batch.node_mask.shape, 8, generator=generator) for _ in "nz"]


def test_the_soft_permutation_is_the_equation_on_real_nodes(permuter, batch, states):
    nodes, noise = states
    found = permuter(nodes, batch.node_mask, noise)
    scores = permuter.score(nodes + 0.05 * noise)[..., 0]
    for one, values, size in zip(found, scores, SIZES):
        expected = soft_sort(values[None, :size], 1.0)[0].T
        torch.testing.assert_close(one[:size, :size], expected, atol=ATOL_FLOAT32, rtol=0)
        assert torch.equal(one[size:], torch.eye(9)[size:])
        assert torch.equal(one[:, size:], torch.eye(9)[:, size:])


def test_padding_that_stands_among_the_nodes_is_moved_behind_them(permuter, batch, states):
    orders = random_orders(batch, generator_from(3))
    moved = permute_batch(batch, orders)
    nodes, noise = states
    rows = torch.arange(4)[:, None]
    found = permuter(nodes[rows, orders], moved.node_mask, noise[rows, orders])
    expected = permuter(nodes, batch.node_mask, noise)[rows, orders]
    real = moved.node_mask
    torch.testing.assert_close(found[real], expected[real], atol=ATOL_FLOAT32, rtol=0)
    ones = torch.ones(4, 9)
    torch.testing.assert_close(found.sum(dim=1), ones, atol=ATOL_FLOAT32, rtol=0)
    assert sorted(found[0].argmax(dim=1).tolist()) == list(range(9))


def test_the_hard_permutation_is_the_hungarian_projection(permuter, batch, states):
    nodes, _ = states
    found = permuter.hard(nodes, batch)
    soft = permuter(nodes, batch.node_mask, permuter._canonical_noise(batch))
    assert torch.equal(found, assign(soft))
    assert found.sort(dim=1).values.tolist() == [list(range(9))] * 4
    for one, size in zip(found.tolist(), SIZES):
        assert one[size:] == list(range(size, 9))
    assert found[3].tolist() != list(range(9))


def test_nodes_with_one_state_still_get_ranks_of_their_own(permuter):
    graphs = GraphBatch.from_graphs(symmetric_graphs())
    found = permuter.hard(torch.zeros(*graphs.node_mask.shape, 8), graphs)
    width = graphs.max_nodes
    assert found.sort(dim=1).values.tolist() == [list(range(width))] * len(graphs)


def test_a_permutation_has_no_entropy_and_padding_adds_none():
    hard = permutation_to_plan(torch.tensor([[2, 0, 1], [0, 1, 2]]))
    real = torch.tensor([[True, True, True], [True, False, False]])
    assert permutation_entropy(hard, real).item() == 0.0
    # control: uniform rows of log 3 each, counted for rows and for columns
    soft = torch.full((1, 3, 3), 1 / 3)
    assert permutation_entropy(soft, real[:1]).item() == pytest.approx(2 * math.log(3))


def test_entropy_is_the_mean_over_real_rows_plus_that_over_real_columns(permuter, batch, states):
    soft = permuter(states[0], batch.node_mask, states[1])
    rows, columns = [], []
    for one, size in zip(soft, SIZES):
        parts = -(one * one.log()).nan_to_num()[:size, :size]
        rows += parts.sum(dim=1).tolist()
        columns += parts.sum(dim=0).tolist()
    expected = (sum(rows) + sum(columns)) / sum(SIZES)
    assert permutation_entropy(soft, batch.node_mask).item() == pytest.approx(expected, rel=1e-5)


def test_entropy_has_finite_gradients_where_entries_are_zero():
    hard = torch.eye(3)[None].requires_grad_()
    permutation_entropy(hard, torch.ones(1, 3, dtype=torch.bool)).backward()
    assert hard.grad.isfinite().all()


def test_labels_are_averaged_over_real_nodes_and_over_pairs_of_distinct_ones(batch):
    generator = generator_from(0)
    nodes = torch.randn(4, 9, 4, generator=generator)
    edges = torch.randn(4, 9, 9, 3, generator=generator)
    logits = GraphLogits(nodes[..., 0], nodes, nodes[..., :0], edges, edges[..., :0])
    node_values, edge_values = [], []
    for b, size in enumerate(SIZES):
        for i in range(size):
            log_probs = nodes[b, i].log_softmax(0)
            node_values.append(-log_probs[batch.node_labels[b, i]].item())
            for j in set(range(size)) - {i}:
                log_probs = edges[b, i, j].log_softmax(0)
                edge_values.append(-log_probs[batch.edge_labels[b, i, j]].item())
    found = reconstruction_terms(batch, logits)
    assert found["node_label"].item() == pytest.approx(sum(node_values) / 21, rel=1e-5)
    assert found["edge_label"].item() == pytest.approx(sum(edge_values) / 126, rel=1e-5)


def test_single_nodes_have_no_edges_to_average():
    batch = GraphBatch.from_graphs([Graph([3])])
    nodes, edges = torch.zeros(1, 1, 4), torch.zeros(1, 1, 1, 3)
    logits = GraphLogits(nodes[..., 0], nodes, nodes[..., :0], edges, edges[..., :0])
    assert reconstruction_terms(batch, logits)["edge_label"].item() == 0.0


def test_divergence_is_that_of_two_gaussians():
    mean, log_variance = (torch.randn(3, 6, generator=generator_from(s)) for s in (0, 1))
    normal = torch.distributions.Normal
    found = torch.distributions.kl_divergence(
        normal(mean, (log_variance / 2).exp()), normal(0.0, 1.0)
    )
    torch.testing.assert_close(GaussianLatent(mean, log_variance).divergence(), found.sum(1))


@pytest.mark.parametrize("max_nodes", [1, 2, 10, 32])
def test_counting_undoes_standardising_and_stays_in_range(max_nodes):
    head = SizeHead(GraphSpace(max_nodes=max_nodes, num_node_labels=1), CONFIG).eval()
    sizes = torch.arange(1, max_nodes + 1)
    last = head.net[-1]
    torch.nn.init.zeros_(last.weight)
    for size, standardised in zip(sizes.tolist(), head.standardised(sizes)):
        last.bias.data[:] = standardised
        assert head.count(torch.zeros(1, 6)).tolist() == [size]
    for far, expected in ((1e6, max_nodes), (-1e6, 1)):
        last.bias.data[:] = far
        assert head.count(torch.zeros(1, 6)).tolist() == [expected]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("latent_dim", 0, "latent_dim must be at least 1, got 0"),
        ("hidden_dim", 0, "hidden_dim must be at least 1, got 0"),
        ("message_dim", 30, "message_dim=30 must be a multiple of num_heads=4"),
        ("position_dim", 7, "position_dim must be even and at least 2, got 7"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1, got 1.0"),
        ("temperature", 0.0, "temperature must be above 0, got 0.0"),
        ("noise_std", -0.1, "noise_std must be at least 0, got -0.1"),
        ("kl_weight", -1.0, "kl_weight must be at least 0, got -1.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, value, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        PigvaeConfig(**{name: value})


def test_the_feedforward_width_is_four_times_the_message_unless_given():
    assert PigvaeConfig(message_dim=8).feedforward_dim == 32
    assert PigvaeConfig(message_dim=8, hidden_dim=5).feedforward_dim == 5
