"""Relationformer: its loss by hand, which pairs it looks at, and memory."""

from __future__ import annotations

import math

import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.rivals.relationformer.config import RelationformerConfig, RelationformerSettings
from grale.rivals.relationformer.loss import chosen_pairs, edge_loss, label_loss, matched_slots
from grale.rivals.relationformer.model import Relationformer
from rivals.predictor_checks import check_it_memorises, check_it_saves

CONFIG = RelationformerConfig()


def test_nodes_are_matched_by_their_labels_alone() -> None:
    graphs = GraphBatch.from_graphs([Graph([0, 1], [(0, 1)])], max_nodes=3)
    labels = torch.tensor([[[0.0, 0.0, 5.0], [0.0, 4.0, 0.0], [4.0, 0.0, 0.0]]])
    assert matched_slots(graphs, labels)[0, :2].tolist() == [2, 1]


def test_the_labels_loss_is_the_weighted_mean() -> None:
    graphs = GraphBatch.from_graphs([Graph([0, 1], [(0, 1)])], max_nodes=3)
    labels = torch.log(torch.tensor([[[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1]]]))
    order = matched_slots(graphs, labels)
    assert order[0].tolist() == [2, 1, 0]
    found = label_loss(graphs, labels, order, CONFIG)
    by_hand = 0.8 * -math.log(0.7) + 0.8 * -math.log(0.8) + 0.2 * -math.log(0.5)
    assert abs(float(found) - by_hand / (0.8 + 0.8 + 0.2)) < 1e-6


def test_the_edges_loss_is_the_mean_over_matched_pairs() -> None:
    graphs = GraphBatch.from_graphs([Graph([0, 0, 0], [(0, 1)])], max_nodes=4)
    scores = torch.zeros(1, 4, 4)
    scores[0, 3, 2] = 2.0  # slots of nodes 0 and 1
    order = torch.tensor([[3, 2, 0, 1]])
    chosen = chosen_pairs(graphs, torch.rand(1, 4, 4), CONFIG)
    assert chosen.sum() == 3  # all pairs of real nodes
    by_hand = (math.log(1 + math.exp(-2.0)) + 2 * math.log(2)) / 3
    assert abs(float(edge_loss(graphs, scores, order, chosen)) - by_hand) < 1e-6


def test_few_pairs_are_looked_at_edges_first() -> None:
    ring = Graph([0] * 8, [(i, (i + 1) % 8) for i in range(8)])
    graphs = GraphBatch.from_graphs([ring, Graph([0, 0], [(0, 1)])])
    few = RelationformerConfig(most_edges=5, most_pairs=7)
    orders = [torch.rand(2, 8, 8, generator=torch.Generator().manual_seed(k)) for k in (0, 1)]
    first, second = (chosen_pairs(graphs, order, few) for order in orders)
    assert (first & graphs.adjacency).sum((1, 2)).tolist() == [5, 1]
    assert first.sum((1, 2)).tolist() == [7, 1]
    assert not torch.equal(first, second)  # others in another step
    assert not first.tril().any()


def test_the_order_of_a_pair_does_not_matter_to_a_prediction(image_predictor) -> None:
    model, rows = image_predictor(Relationformer, RelationformerSettings)
    scores = model.logits_of(rows).edge_label[..., 1]
    torch.testing.assert_close(scores, scores.mT)
    _, ordered = model.read(rows)
    assert not torch.allclose(ordered, ordered.mT, atol=1e-4)


@pytest.mark.slow
def test_it_memorises_a_few_graphs(image_predictor) -> None:
    small = RelationformerConfig(hidden_dim=32)
    model, rows = image_predictor(Relationformer, RelationformerSettings, config=small)
    check_it_memorises(model, rows, steps=100)


def test_a_saved_model_predicts_the_same(image_predictor, tmp_path) -> None:
    check_it_saves(*image_predictor(Relationformer, RelationformerSettings), tmp_path)
