"""Propositions 2, 3 and 4 of the paper (Proposition 1 is in test_partial_fgw.py)."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.transport.aligned import aligned_linear_cost, aligned_quadratic_cost
from grale.transport.partial_fgw import CROSS_ENTROPY, SQUARED_ERROR, linear_cost, quadratic_cost
from strategies import generator_from, graphs, plans, random_graph, random_plans, seeds, unhurried

MAX_NODES = 5
NUM_NODE_LABELS, NUM_EDGE_LABELS = 2, 2

ATOL_FLOAT64 = 1e-10
"""Sums of at most 5^4 terms of order ten, in float64."""
SMALLEST_DIFFERENCE = 0.5
"""One-hot vectors that differ are at squared distance 2, masks that differ at distance 1."""


def all_permutations(size):
    orders = torch.tensor(list(permutations(range(size))))
    return torch.nn.functional.one_hot(orders, size).double()


def as_features(graph, width=MAX_NODES):
    """The padded graph (h, F, C) of the paper, as a batch of one."""
    batch = GraphBatch.from_graphs([graph], width)
    one_hot = torch.nn.functional.one_hot
    return (
        batch.node_mask.double(),
        one_hot(batch.node_labels, NUM_NODE_LABELS).double(),
        one_hot(batch.edge_labels, NUM_EDGE_LABELS + 1).double(),
    )


def objective(true, pred, plan):
    """Equation (PMFGW) with squared errors for all three ground losses, for many plans."""
    (mask, nodes, edges), (pred_mask, pred_nodes, pred_edges) = (
        [x.expand(len(plan), *x.shape[1:]) for x in graph] for graph in (true, pred)
    )
    masked = plan * mask[:, :, None]
    return (
        linear_cost(plan, mask[..., None], pred_mask[..., None], SQUARED_ERROR)
        + linear_cost(masked, nodes, pred_nodes, SQUARED_ERROR)
        + quadratic_cost(masked, edges, pred_edges, SQUARED_ERROR)
    )


def random_pair(rng, directed):
    """Two graphs that may be isomorphic; about half differ by a single label."""
    size = int(rng.integers(1, MAX_NODES + 1))
    first = random_graph(rng, size, directed, NUM_NODE_LABELS, NUM_EDGE_LABELS, 0.5)
    if rng.random() < 0.3:
        other_size = int(rng.integers(1, MAX_NODES + 1))
        return first, random_graph(rng, other_size, directed, NUM_NODE_LABELS, NUM_EDGE_LABELS, 0.5)
    nodes, matrix = first.node_labels.copy(), first.label_matrix()
    if size > 1 and rng.random() < 0.7:
        i, k = rng.choice(size, 2, replace=False)
        matrix[i, k] = rng.integers(0, NUM_EDGE_LABELS + 1)
        if not directed:
            matrix[k, i] = matrix[i, k]
    else:
        nodes[rng.integers(size)] = rng.integers(NUM_NODE_LABELS)
    second = Graph.from_label_matrix(nodes, matrix, directed)
    return first, second.permuted(rng.permutation(size))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_proposition_2_some_permutation_costs_nothing_exactly_if_graphs_are_isomorphic(directed):
    rng = np.random.default_rng(0)
    every_plan = all_permutations(MAX_NODES)
    verdicts = []
    for _ in range(60):
        first, second = random_pair(rng, directed)
        costs = objective(as_features(first), as_features(second), every_plan)
        verdicts.append(is_isomorphic(first, second))
        if verdicts[-1]:
            assert costs.min().abs() < ATOL_FLOAT64
        else:
            assert costs.min() > SMALLEST_DIFFERENCE
    assert 10 < sum(verdicts) < 50


@pytest.mark.slow
@given(graphs(max_nodes=MAX_NODES, num_node_labels=2, num_edge_labels=2), seeds)
@unhurried
def test_proposition_2_the_right_permutation_costs_nothing(graph, seed):
    order = np.random.default_rng(seed).permutation(graph.num_nodes)
    padding = range(graph.num_nodes, MAX_NODES)
    # Node i of the permuted graph (the truth) is node order[i] of the graph (the prediction).
    plan = torch.eye(MAX_NODES, dtype=torch.float64)[[*order.tolist(), *padding]][None]
    true, pred = as_features(graph.permuted(order)), as_features(graph)
    assert objective(true, pred, plan).abs().item() < ATOL_FLOAT64
    if graph.permuted(order).permuted(order) != graph:
        # Control: the inverse order is another plan, and the wrong one.
        assert objective(true, pred, plan.transpose(1, 2)).item() > SMALLEST_DIFFERENCE


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_proposition_2_no_soft_plan_costs_nothing_between_graphs_that_differ(directed):
    rng = np.random.default_rng(1)
    generator = generator_from(1)
    soft = torch.cat(
        [random_plans(generator, 40, MAX_NODES, sharpness) for sharpness in (0.1, 1, 4)]
    )
    seen = 0
    for _ in range(60):
        first, second = random_pair(rng, directed)
        if is_isomorphic(first, second):
            continue
        seen += 1
        # A zero needs every permutation in the plan's Birkhoff decomposition to cost nothing,
        # and each entry of these plans is at least 1e-9 or so: the smallest cost is far above.
        assert objective(as_features(first), as_features(second), soft).min() > 1e-3
    assert seen > 20


def test_proposition_2_a_soft_plan_between_symmetric_nodes_costs_nothing():
    """The zero need not be at a permutation: two lone nodes may be mixed freely."""
    pair = as_features(Graph([1, 1]), width=2)
    half = torch.full((1, 2, 2), 0.5, dtype=torch.float64)
    assert objective(pair, pair, half).item() == 0.0


def test_proposition_2_needs_the_mask_term():
    """Control: without it a graph and the same graph with one node more cost nothing."""
    small, large = as_features(Graph([1]), width=2), as_features(Graph([1, 1]), width=2)
    plan = torch.eye(2, dtype=torch.float64)[None]
    masked = plan * small[0][:, :, None]
    without = linear_cost(masked, small[1], large[1], SQUARED_ERROR) + quadratic_cost(
        masked, small[2], large[2], SQUARED_ERROR
    )
    assert without.item() == 0.0
    assert objective(small, large, plan).item() == pytest.approx(1.0)


def random_features(seed, size, batch):
    """One-hot truths and real predictions."""
    generator = generator_from(seed)

    def one_hot(*shape):
        labels = torch.randint(3, shape, generator=generator)
        return torch.nn.functional.one_hot(labels, 3).double()

    def real(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    nodes = one_hot(batch, size), real(batch, size, 3)
    edges = one_hot(batch, size, size), real(batch, size, size, 3)
    return nodes, edges


def both_losses(plan, nodes, edges, loss):
    everyone = torch.ones(plan.shape[:2], dtype=plan.dtype)
    transport = linear_cost(plan, *nodes, loss) + quadratic_cost(plan, *edges, loss)
    aligned = aligned_linear_cost(plan, *nodes, loss, everyone) + aligned_quadratic_cost(
        plan, *edges, loss, everyone
    )
    return transport, aligned


@pytest.mark.slow
@pytest.mark.parametrize("loss", [CROSS_ENTROPY, SQUARED_ERROR], ids=["cross_entropy", "squared"])
@given(plan=plans(num_plans=3), seed=seeds)
@unhurried
def test_proposition_3_the_aligned_loss_is_never_above_the_transport_loss(loss, plan, seed):
    transport, aligned = both_losses(plan, *random_features(seed, plan.shape[1], 3), loss)
    assert (aligned <= transport + ATOL_FLOAT64).all()


@pytest.mark.parametrize("loss", [CROSS_ENTROPY, SQUARED_ERROR], ids=["cross_entropy", "squared"])
def test_proposition_3_the_losses_are_equal_at_permutations_and_only_there(loss):
    hard = all_permutations(4)
    features = random_features(0, 4, len(hard))
    transport, aligned = both_losses(hard, *features, loss)
    torch.testing.assert_close(transport, aligned, rtol=0, atol=ATOL_FLOAT64)
    soft = random_plans(generator_from(0), len(hard), 4)
    transport, aligned = both_losses(soft, *features, loss)
    assert (transport - aligned).min() > 1e-2


def test_proposition_3_needs_rows_that_sum_to_one():
    """Control: for plans that lose mass the inequality may turn around."""
    nodes, edges = random_features(0, 3, 8)
    lossy = 0.1 * random_plans(generator_from(0), 8, 3)
    transport, aligned = both_losses(lossy, nodes, edges, SQUARED_ERROR)
    assert (aligned > transport).any()


def test_proposition_4_the_aligned_loss_is_zero_for_graphs_that_differ():
    """The paper's counterexample, exactly: two nodes, F = (0.5, 0.5), F_hat = (1, 0), C = 0."""
    plan = torch.full((1, 2, 2), 0.5)
    nodes = torch.tensor([[[0.5], [0.5]]]), torch.tensor([[[1.0], [0.0]]])
    edges = torch.zeros(1, 2, 2, 1), torch.zeros(1, 2, 2, 1)
    transport, aligned = both_losses(plan, nodes, edges, SQUARED_ERROR)
    assert aligned.item() == 0.0
    assert transport.item() == 0.5
    # No permutation makes the graphs equal: the sets of node features differ.
    assert sorted(nodes[0].flatten().tolist()) != sorted(nodes[1].flatten().tolist())
    for hard in all_permutations(2).float():
        assert min(both_losses(hard[None], nodes, edges, SQUARED_ERROR)).item() == 0.5
