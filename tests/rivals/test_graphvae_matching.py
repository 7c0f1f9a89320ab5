"""Matching and loss of GraphVAE: the fast forms against the published formulas."""

from itertools import permutations, product

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import permute_batch, random_permutations
from grale.rivals.graphvae.decoder import Prediction
from grale.rivals.graphvae.loss import reconstruction_terms
from grale.rivals.graphvae.matching import match, max_pooling_matching, similarity_of
from strategies import random_graph

CERTAIN = 40.0  # a logit; the entropy of its sigmoid is below 1e-17


def random_prediction(generator, num_graphs, size, num_node_labels, num_edge_labels, directed):
    shape = (num_graphs, size, size)
    adjacency = 2 * torch.randn(*shape, generator=generator)
    edge_label = 2 * torch.randn(*shape, num_edge_labels, generator=generator)
    if not directed:
        adjacency = adjacency + adjacency.transpose(1, 2)
        edge_label = edge_label + edge_label.transpose(1, 2)
    return Prediction(
        adjacency, edge_label, 2 * torch.randn(*shape[:2], num_node_labels, generator=generator)
    )


def certain_prediction(graphs, num_node_labels, num_edge_labels):
    """The prediction that says exactly `graphs`."""
    adjacency = graphs.adjacency | torch.diag_embed(graphs.node_mask)
    types = one_hot((graphs.edge_labels - 1).clamp_min(0), num_edge_labels)
    return Prediction(
        CERTAIN * (2 * adjacency.float() - 1),
        CERTAIN * types.float(),
        CERTAIN * one_hot(graphs.node_labels, num_node_labels).float(),
    )


def literal_similarity(graph, adjacency, edge_probs, node_probs):
    """S of one graph with n nodes and k slots as an array (n, k, n, k), entry by entry."""
    labels, matrix = graph.node_labels, graph.label_matrix()
    n, k = len(labels), len(adjacency)
    S = np.zeros((n, k, n, k))
    for i, a, j, b in product(range(n), range(k), range(n), range(k)):
        if i != j and a != b and matrix[i, j]:
            types = edge_probs[a, b, matrix[i, j] - 1]
            S[i, a, j, b] = types * adjacency[a, b] * adjacency[a, a] * adjacency[b, b]
        if i == j and a == b:
            S[i, a, j, b] = node_probs[a, labels[i]] * adjacency[a, a]
    return S


def literal_max_pooling(S, num_iterations):
    n, k = S.shape[:2]
    x = np.full((n, k), 1 / np.sqrt(n * k))
    for _ in range(num_iterations):
        new = np.zeros_like(x)
        for i, a in product(range(n), range(k)):
            new[i, a] = x[i, a] * S[i, a, i, a]
            for j in range(n):
                others = [x[j, b] * S[i, a, j, b] for b in range(k) if b != a]
                if j != i and others:
                    new[i, a] += max(others)
        x = new / np.linalg.norm(new)
    return x


def probabilities(prediction, row):
    return (
        prediction.adjacency[row].double().sigmoid().numpy(),
        prediction.edge_label[row].double().softmax(-1).numpy(),
        prediction.node_label[row].double().softmax(-1).numpy(),
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("num_iterations", [1, 2, 75])
def test_sparse_matching_is_the_published_iteration(rng, directed, num_iterations):
    graphs = [random_graph(rng, n, directed, 3, 2, 0.6) for n in (1, 2, 4, 5)]
    batch = GraphBatch.from_graphs(graphs, 6)
    assert bool(batch.adjacency.any())
    generator = torch.Generator().manual_seed(0)
    prediction = random_prediction(generator, len(graphs), 6, 3, 2, directed)
    found = max_pooling_matching(similarity_of(batch, prediction), num_iterations)
    for row, graph in enumerate(graphs):
        S = literal_similarity(graph, *probabilities(prediction, row))
        symmetric = (S + S.transpose(2, 3, 0, 1)) / 2
        if not directed:
            np.testing.assert_allclose(symmetric, S)
        expected = literal_max_pooling(symmetric, num_iterations)
        np.testing.assert_allclose(found[row, : graph.num_nodes].numpy(), expected, rtol=1e-9)
        assert not found[row, graph.num_nodes :].any()


def test_padding_takes_the_slots_that_are_left_over(rng):
    batch = GraphBatch.from_graphs([random_graph(rng, n, False, 3, 2, 0.5) for n in (2, 5)], 7)
    generator = torch.Generator().manual_seed(1)
    permutation = match(batch, random_prediction(generator, 2, 7, 3, 2, False), 75)
    assert torch.equal(permutation.sort(dim=1).values, torch.arange(7).expand(2, -1))


def quadratic_score(S, slots):
    """x^T S x of the assignment that sends node i to slots[i]."""
    nodes = np.arange(len(slots))
    return S[nodes[:, None], slots[:, None], nodes[None, :], slots[None, :]].sum()


@pytest.mark.slow
def test_matched_similarity_is_far_above_that_of_random_assignments(coloring_graphs, rng):
    batch = GraphBatch.from_graphs(coloring_graphs, 10)
    generator = torch.Generator().manual_seed(2)
    prediction = random_prediction(generator, len(batch), 10, 4, 1, False)
    permutation = match(batch, prediction, 75)
    deviations = []
    for row, graph in enumerate(coloring_graphs):
        S = literal_similarity(graph, *probabilities(prediction, row))
        orders = [rng.permutation(10)[: graph.num_nodes] for _ in range(200)]
        chance = [quadratic_score(S, order) for order in orders]
        matched = quadratic_score(S, permutation[row, : graph.num_nodes].numpy())
        deviations.append((matched - np.mean(chance)) / np.std(chance))
    assert min(deviations) > 0
    assert np.mean(deviations) > 2


def distinct_graphs(rng):
    """Connected graphs whose nodes all have labels of their own."""
    graphs = []
    for size in (1, 3, 6, 8):
        edges = [(i, int(rng.integers(i))) for i in range(1, size)] + [(0, size - 1)] * (size > 2)
        labels = rng.integers(1, 3, len(edges))
        chosen = dict(zip([tuple(sorted(edge)) for edge in edges], labels.tolist()))
        graphs.append(Graph(rng.permutation(8)[:size], list(chosen), list(chosen.values())))
    return graphs


def test_a_prediction_that_is_the_graph_itself_is_matched_to_zero_loss(rng):
    batch = GraphBatch.from_graphs(distinct_graphs(rng), 9)
    order = random_permutations(torch.full((4,), 9), 9, torch.Generator().manual_seed(0))
    prediction = certain_prediction(permute_batch(batch, order), 8, 2)
    permutation = match(batch, prediction, 75)
    terms = reconstruction_terms(batch, prediction.reordered(permutation))
    assert terms.total().max() < 1e-6
    assert reconstruction_terms(batch, prediction).total()[1:].min() > 1


def test_most_coloring_graphs_are_matched_with_themselves(coloring_graphs):
    batch = GraphBatch.from_graphs(coloring_graphs, 10)
    order = random_permutations(torch.full((16,), 10), 10, torch.Generator().manual_seed(0))
    prediction = certain_prediction(permute_batch(batch, order), 4, 1)
    matched = prediction.reordered(match(batch, prediction, 75))
    exact = reconstruction_terms(batch, matched).total() < 1e-6
    assert exact.float().mean() > 0.6  # nodes that can stand for each other tie, whatever follows


def literal_terms(graph, slots, adjacency, edge_probs, node_probs):
    """The published terms of one graph, with X, A' = X A X^T, F~' and E~' written out."""
    k, n = len(adjacency), graph.num_nodes
    X = np.zeros((k, n))
    X[slots, np.arange(n)] = 1
    matrix = graph.label_matrix()
    moved = X @ ((matrix > 0) + np.eye(n)) @ X.T
    entropy = -(moved * np.log(adjacency) + (1 - moved) * np.log(1 - adjacency))
    types = np.einsum("ai,abt,bj->ijt", X, edge_probs, X)
    edges = np.argwhere(matrix)
    return {
        "existence": np.diag(entropy).mean(),
        "adjacency": entropy[~np.eye(k, dtype=bool)].mean(),
        "node_label": -np.log((X.T @ node_probs)[np.arange(n), graph.node_labels]).mean(),
        "edge_label": -np.mean([np.log(types[i, j, matrix[i, j] - 1]) for i, j in edges]),
    }


@pytest.mark.parametrize("directed", [False, True])
def test_the_terms_are_the_published_ones(rng, directed):
    graphs = [random_graph(rng, n, directed, 3, 2, 0.7) for n in (3, 5, 6)]
    assert all(graph.num_edges for graph in graphs)
    batch = GraphBatch.from_graphs(graphs, 6)
    generator = torch.Generator().manual_seed(3)
    prediction = random_prediction(generator, 3, 6, 3, 2, directed)
    permutation = random_permutations(torch.full((3,), 6), 6, generator)
    terms = reconstruction_terms(batch, prediction.reordered(permutation))
    for row, graph in enumerate(graphs):
        slots = permutation[row, : graph.num_nodes].numpy()
        expected = literal_terms(graph, slots, *probabilities(prediction, row))
        for name, value in expected.items():
            assert getattr(terms, name)[row].item() == pytest.approx(value, rel=1e-5), name


@pytest.mark.slow
def test_matching_finds_the_best_permutation_of_a_small_certain_prediction():
    graph = Graph([0, 1, 0, 1], [(0, 1), (1, 2), (2, 3)], [1, 2, 1])
    batch = GraphBatch.from_graphs([graph])
    costs = []
    for order in permutations(range(4)):
        prediction = certain_prediction(permute_batch(batch, torch.tensor([order])), 2, 2)
        matched = prediction.reordered(match(batch, prediction, 75))
        costs.append(reconstruction_terms(batch, matched).total().item())
    assert max(costs) < 1e-6


def test_a_graph_without_edges_has_finite_terms():
    batch = GraphBatch.from_graphs([Graph([0]), Graph([1, 1])], 3)
    generator = torch.Generator().manual_seed(4)
    prediction = random_prediction(generator, 2, 3, 2, 1, False)
    matched = prediction.reordered(match(batch, prediction, 75))
    terms = reconstruction_terms(batch, matched)
    assert bool(terms.total().isfinite().all())
    assert not terms.edge_label.any()
