"""Encoder and decoder of GraphVAE, part by part."""

import networkx
import numpy as np
import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.rivals.graphvae.decoder import Prediction, connect
from grale.rivals.graphvae.encoder import (
    EdgeConditionedConvolution,
    GaussianLatent,
    RealNodeNorm,
    relations_of,
)
from strategies import random_graph

ATOL_FLOAT32 = 1e-5  # sums of some dozen terms of order one


def test_batch_norm_counts_real_nodes_only(rng):
    batch = GraphBatch.from_graphs([random_graph(rng, n, False, 3, 2, 0.5) for n in (1, 4, 7)])
    norm = RealNodeNorm(3)
    nodes = torch.randn(*batch.node_mask.shape, 3) + 5
    masked = nodes * batch.node_mask[..., None]
    own = norm(masked, batch.node_mask)
    counted = norm(masked, torch.ones_like(batch.node_mask))
    assert own[batch.node_mask].mean().abs() < ATOL_FLOAT32
    assert not own[~batch.node_mask].any()
    assert counted[batch.node_mask].mean() > 0.1


@pytest.mark.parametrize("aggregation", ["mean", "sum"])
def test_convolution_is_that_of_torch_geometric(rng, aggregation):
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn import NNConv

    graph = random_graph(rng, 6, False, 3, 2, 0.6)
    batch = GraphBatch.from_graphs([graph], 8)
    ours = EdgeConditionedConvolution(5, 4, 2)
    filters = torch.nn.Linear(2, 5 * 4, bias=False)
    theirs = NNConv(5, 4, filters, aggr=aggregation, bias=False)
    with torch.no_grad():
        filters.weight.copy_(
            ours.filters.weight.unflatten(0, (2, 4)).permute(2, 1, 0).flatten(0, 1)
        )
        theirs.lin.weight.copy_(ours.identity.weight)
    nodes = torch.randn(1, 8, 5)
    matrix = graph.label_matrix()
    edges = np.argwhere(matrix)
    types = torch.eye(2)[torch.from_numpy(matrix[edges[:, 0], edges[:, 1]] - 1)]
    expected = theirs(nodes[0, :6], torch.from_numpy(edges.T.copy()), types)
    found = ours(nodes, relations_of(batch, 2, aggregation))
    torch.testing.assert_close(found[0, :6], expected, atol=ATOL_FLOAT32, rtol=0)


def test_in_directed_graphs_both_ends_of_an_edge_hear_of_it():
    batch = GraphBatch.from_graphs([Graph([0, 0], [(0, 1)], [2], directed=True)])
    relations = relations_of(batch, 2, "mean")
    expected = torch.zeros(1, 2, 4, 2)
    expected[0, 1, 1, 0] = 1.0  # into node 1, label 2
    expected[0, 0, 3, 1] = 1.0  # out of node 0, label 2
    assert torch.equal(relations, expected)


def test_a_convolution_of_equal_widths_keeps_nodes_without_neighbours():
    convolution = EdgeConditionedConvolution(4, 4, 2)
    nodes = torch.randn(3, 5, 4)
    silent = torch.zeros(3, 5, 2, 5)
    assert torch.equal(convolution(nodes, silent), nodes)


def test_divergence_is_the_integral_of_the_log_ratio():
    mean, log_variance = torch.tensor([[0.3, -1.0]]), torch.tensor([[0.5, -2.0]])
    posterior = torch.distributions.Normal(mean, (log_variance / 2).exp())
    expected = torch.distributions.kl_divergence(posterior, torch.distributions.Normal(0.0, 1.0))
    found = GaussianLatent(mean, log_variance).divergence()
    torch.testing.assert_close(found, expected.sum(dim=1))
    assert GaussianLatent(torch.zeros(1, 2), torch.zeros(1, 2)).divergence().item() == 0


def test_point_estimate_is_the_published_rule():
    generator = torch.Generator().manual_seed(0)
    adjacency = torch.randn(50, 4, 4, generator=generator)
    adjacency[0] = 0.0  # probabilities of exactly one half count as present
    types = 3 * torch.randn(50, 4, 4, 3, generator=generator)
    prediction = Prediction(adjacency, types, torch.randn(50, 4, 2, generator=generator))
    found = prediction.to_graph_logits().most_likely(directed=True)
    exists = adjacency.diagonal(dim1=1, dim2=2).sigmoid() >= 0.5
    several = exists.any(dim=1)
    assert torch.equal(found.node_mask[several], exists[several])
    pairs = found.edge_mask & ~torch.eye(4, dtype=torch.bool)
    expected = torch.where(adjacency.sigmoid() >= 0.5, types.argmax(-1) + 1, 0) * pairs
    assert torch.equal(found.edge_labels, expected)
    joint = torch.cat([1 - adjacency.sigmoid()[..., None],
                       adjacency.sigmoid()[..., None] * types.softmax(-1)], dim=-1)  # fmt: skip
    assert not torch.equal(joint.argmax(-1) * pairs, expected)


def test_the_spanning_tree_is_the_maximum_one_and_connects():
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(5, 8, 8, generator=generator) - 2
    adjacency = (raw + raw.transpose(1, 2)) / 2
    prediction = Prediction(adjacency, torch.zeros(5, 8, 8, 2), torch.zeros(5, 8, 2))
    logits = prediction.to_graph_logits()
    node_mask = torch.arange(8) < torch.tensor([1, 2, 5, 7, 8])[:, None]
    before = logits.edge_label.argmax(-1)
    after = connect(logits, node_mask).edge_label.argmax(-1)
    for row, size in enumerate((1, 2, 5, 7, 8)):
        complete = networkx.Graph()
        complete.add_nodes_from(range(size))
        for i in range(size):
            for j in range(i):
                complete.add_edge(i, j, weight=adjacency[row, i, j].item())
        tree = networkx.maximum_spanning_tree(complete)
        expected = before[row] > 0
        for i, j in tree.edges:
            expected[i, j] = expected[j, i] = True
        assert torch.equal(after[row] > 0, expected)
    assert not torch.equal(before, after)
