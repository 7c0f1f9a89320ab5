"""Any2Graph: its loss against the literal sum, its invariance, its solver, and memory."""

from __future__ import annotations

import pytest
import torch

from grale.codec.logits import GraphLogits, adjacency_logits
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.rivals.any2graph.config import Any2GraphConfig, Any2GraphSettings
from grale.rivals.any2graph.loss import Targets, best_plan, pmfgw_terms
from grale.rivals.any2graph.model import DIAGONAL, Any2Graph
from rivals.predictor_checks import check_it_memorises, check_it_saves

SLOTS, LABELS = 5, 3
GRAPHS = [
    Graph([0, 1, 2], [(0, 1), (1, 2)]),
    Graph([2, 2, 0, 1], [(0, 1), (1, 2), (2, 3), (0, 3)]),
]


def _logits(seed: int = 0) -> GraphLogits:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    scores = draw(2, SLOTS, SLOTS)
    edges = adjacency_logits(scores + scores.mT, 2)
    mask, labels, features = draw(2, SLOTS), draw(2, SLOTS, LABELS), draw(2, SLOTS, LABELS)
    return GraphLogits(mask, labels, features, edges, torch.zeros(2, SLOTS, SLOTS, 0))


def _soft_plan(seed: int = 1) -> torch.Tensor:
    """Mixture of two permutations: rows and columns sum to one."""
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.eye(SLOTS)[torch.randperm(SLOTS, generator=generator)] for _ in range(4)]
    return torch.stack([0.3 * orders[0] + 0.7 * orders[1], 0.6 * orders[2] + 0.4 * orders[3]])


def _literal(graph: Graph, logits: GraphLogits, row: int, plan: torch.Tensor) -> float:
    """PMFGW as published, with marginals 1/N: loops over i, j, k and l."""
    bce, cross = torch.nn.functional.binary_cross_entropy_with_logits, torch.log_softmax
    size, transport = graph.num_nodes, plan / SLOTS
    exists = [i < size for i in range(SLOTS)]
    weight = [SLOTS * float(there) / size for there in exists]
    matrix = torch.zeros(SLOTS, SLOTS)
    for a, b in graph.edges.tolist():
        matrix[a, b] = matrix[b, a] = 1
    labels = torch.zeros(SLOTS, LABELS)
    labels[range(size), graph.node_labels.tolist()] = 1
    diffused = matrix @ labels
    total = 0.0
    for i in range(SLOTS):
        for j in range(SLOTS):
            mass = float(transport[i, j])
            total += mass * float(bce(logits.node_mask[row, j], torch.tensor(float(exists[i]))))
            own = -float((labels[i] * cross(logits.node_label[row, j], -1)).sum())
            own += float((logits.node_feature[row, j] - diffused[i]).square().sum())
            total += mass * weight[i] * own
            for k in range(SLOTS):
                for m in range(SLOTS):
                    pair = float(bce(logits.edge_label[row, j, m, 1], matrix[i, k]))
                    total += mass * float(transport[k, m]) * weight[i] * weight[k] * pair
    return total


def test_the_loss_is_the_published_sum() -> None:
    logits, plan = _logits(), _soft_plan()
    targets = Targets.of(GraphBatch.from_graphs(GRAPHS), SLOTS, LABELS)
    found = pmfgw_terms(targets, logits, plan).per_graph(Any2GraphConfig())
    for row, graph in enumerate(GRAPHS):
        assert abs(float(found[row]) - _literal(graph, logits, row, plan[row])) < 1e-4


def test_the_solver_descends_and_its_value_is_that_of_the_loss() -> None:
    logits, config = _logits(3), Any2GraphConfig(node_label=2.0, edge=3.0, tolerance=1e-9)
    targets = Targets.of(GraphBatch.from_graphs(GRAPHS), SLOTS, LABELS)
    solved = best_plan(targets, logits, config)
    falls = solved.values[:-1] - solved.values[1:]
    assert (falls > -1e-6).all()
    assert (falls > 1e-3).any()
    value = pmfgw_terms(targets, logits, solved.plan).per_graph(config)
    torch.testing.assert_close(value, solved.values[-1], atol=1e-4, rtol=1e-4)


def test_the_loss_does_not_depend_on_the_order_of_the_nodes() -> None:
    logits, config = _logits(4), Any2GraphConfig()
    moved = [GRAPHS[0].permuted([2, 0, 1]), GRAPHS[1].permuted([3, 1, 0, 2])]
    values = []
    for graphs in (GRAPHS, moved, [GRAPHS[0], Graph([2, 2, 0, 0], [(0, 1), (1, 2)])]):
        targets = Targets.of(GraphBatch.from_graphs(graphs), SLOTS, LABELS)
        solved = best_plan(targets, logits, config)
        values.append(pmfgw_terms(targets, logits, solved.plan).per_graph(config))
    torch.testing.assert_close(values[0], values[1], atol=1e-5, rtol=1e-5)
    assert abs(float(values[0][1] - values[2][1])) > 1e-3  # another graph


def test_edges_are_symmetric_and_no_node_is_its_own_neighbour(image_predictor) -> None:
    model, rows = image_predictor(Any2Graph, Any2GraphSettings)
    logits = model.logits_of(rows)
    scores = logits.edge_label[..., 1]
    torch.testing.assert_close(scores, scores.mT)
    assert (scores.diagonal(dim1=1, dim2=2) == DIAGONAL).all()
    assert logits.node_mask.shape == (len(rows), model.space.max_nodes)


def test_bonds_are_never_predicted(space: GraphSpace) -> None:
    edges = adjacency_logits(torch.randn(1, 4, 4), num_classes=5)
    assert edges.argmax(-1).max() <= 1


@pytest.mark.slow
def test_it_memorises_a_few_graphs(image_predictor) -> None:
    check_it_memorises(*image_predictor(Any2Graph, Any2GraphSettings), steps=100)


def test_a_saved_model_predicts_the_same(image_predictor, tmp_path) -> None:
    check_it_saves(*image_predictor(Any2Graph, Any2GraphSettings), tmp_path)
