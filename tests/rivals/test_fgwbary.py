"""FGWBary: distances and barycentres against POT and literal sums, and memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic
from grale.rivals.fgwbary.barycentre import (
    Attributed,
    barycentre,
    best_plan,
    fgw_distance,
    resized,
    updated,
)
from grale.rivals.fgwbary.config import FgwbaryConfig, FgwbarySettings
from grale.rivals.fgwbary.kernel import KernelBarycentre
from grale.rivals.fgwbary.model import FGWBary, logits_of_graphs
from prediction_setup import BITS, IMAGE, random_rows
from rivals.predictor_checks import FEW, check_it_memorises, check_it_saves

ot = pytest.importorskip("ot")
SMALL = FgwbaryConfig(num_templates=3, num_rounds=2, hidden_dim=16)


def _random(size: int, seed: int) -> Attributed:
    generator = torch.Generator().manual_seed(seed)
    edges = torch.rand(size, size, generator=generator)
    return Attributed((edges + edges.T) / 2, torch.rand(size, 3, generator=generator))


def test_the_distance_is_the_literal_sum_and_pots() -> None:
    first, second, share = _random(4, 0), _random(3, 1), 0.3
    plan = best_plan(first, second, share)
    assert torch.allclose(plan.sum(0), torch.full((3,), 1 / 3), atol=1e-6)
    found = fgw_distance(first, second, plan, share)
    literal = 0.0
    for i, j in np.ndindex(4, 3):
        gap = (first.nodes[i] - second.nodes[j]).square().sum()
        literal += (1 - share) * plan[i, j] * gap
        for k, m in np.ndindex(4, 3):
            gap = (first.edges[i, k] - second.edges[j, m]).square()
            literal += share * plan[i, j] * plan[k, m] * gap
    assert abs(float(found - literal)) < 1e-5
    costs = torch.cdist(first.nodes, second.nodes).square().double().numpy()
    theirs = ot.gromov.fused_gromov_wasserstein2(
        costs, first.edges.double().numpy(), second.edges.double().numpy(),
        loss_fun="square_loss", alpha=share, max_iter=100,
    )  # fmt: skip
    assert float(found) == pytest.approx(float(theirs), abs=1e-5)


def test_an_update_is_the_best_graph_for_its_plans() -> None:
    others, weights = [_random(4, 2), _random(3, 3)], torch.tensor([0.7, 0.3])
    plans = [best_plan(_random(4, 9), other, 0.5) for other in others]
    best = updated(4, others, weights, plans)

    def cost(graph: Attributed) -> float:
        parts = zip(weights, others, plans)
        return float(sum(w * fgw_distance(graph, other, plan, 0.5) for w, other, plan in parts))

    for seed in range(5):
        noise = 0.05 * _random(4, 20 + seed).edges
        assert cost(best) < cost(Attributed(best.edges + noise, best.nodes))
        assert cost(best) < cost(Attributed(best.edges, best.nodes + noise[:, :3]))


def test_pot_finds_the_same_barycentre_from_the_same_start() -> None:
    others, weights = [_random(4, 5), _random(4, 6)], torch.tensor([0.6, 0.4])
    found = barycentre(4, others, weights, structure=0.5, num_rounds=3).graph
    start = resized(others[0], 4)
    ones = [np.full(4, 1 / 4)] * 2
    nodes, edges = ot.gromov.fgw_barycenters(
        4,
        [other.nodes.double().numpy() for other in others],
        [other.edges.double().numpy() for other in others],
        ones, weights.double().numpy(), alpha=0.5, loss_fun="square_loss", max_iter=3, tol=0.0,
        init_C=start.edges.double().numpy(), init_X=start.nodes.double().numpy(),
    )  # fmt: skip
    np.testing.assert_allclose(found.edges.numpy(), edges, atol=1e-4)
    np.testing.assert_allclose(found.nodes.numpy(), nodes, atol=1e-4)


def test_gradients_reach_weights_and_templates() -> None:
    others = [Attributed(*(part.requires_grad_() for part in _random(3, seed))) for seed in (0, 1)]
    weights = torch.tensor([0.5, 0.5], requires_grad=True)
    made = barycentre(3, others, weights, 0.5, 2).graph
    fgw_distance(made, _random(3, 7), best_plan(made, _random(3, 7), 0.5), 0.5).backward()
    for leaf in (weights, others[0].edges, others[0].nodes):
        assert leaf.grad is not None
        assert leaf.grad.abs().sum() > 0


def test_rounding_keeps_labels_edges_and_size() -> None:
    space = GraphSpace(max_nodes=5, num_node_labels=4, num_edge_labels=2)
    graph = FEW[1]
    matrix = torch.from_numpy(graph.label_matrix()).float() * 0.9
    labels = torch.eye(4)[graph.node_labels.tolist()]
    logits = logits_of_graphs([Attributed(matrix, labels)], space)
    (again,) = logits.most_likely(directed=False).to_graphs()
    assert is_isomorphic(graph, again)


def test_the_kernel_variant_remembers_its_training_graphs() -> None:
    space = GraphSpace(max_nodes=4, num_node_labels=4)
    for inputs in (IMAGE, BITS):
        rows = random_rows(inputs, len(FEW))
        config = FgwbaryConfig(num_neighbours=1, ridge=1e-6)
        model = KernelBarycentre(inputs, space, config, rows, FEW)
        weights = model.weights_of(rows)
        assert (weights.argmax(axis=1) == np.arange(len(FEW))).all()
        found = model.predict(rows, [graph.num_nodes for graph in FEW])
        assert all(is_isomorphic(*pair) for pair in zip(FEW, found))
    with pytest.raises(ValueError, match="give two or more"):
        KernelBarycentre(BITS, space, config, rows, [Graph([0], [])])


@pytest.mark.slow
def test_it_memorises_a_few_graphs(image_predictor) -> None:
    model, rows = image_predictor(FGWBary, FgwbarySettings, config=SMALL)
    check_it_memorises(model, rows, steps=50, count=2)


def test_a_saved_model_predicts_the_same(image_predictor, tmp_path) -> None:
    check_it_saves(*image_predictor(FGWBary, FgwbarySettings, config=SMALL), tmp_path)
