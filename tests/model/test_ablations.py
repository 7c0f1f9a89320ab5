"""Each part that the paper's ablation puts in place of GRALE's own, and pooling by transport."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.nn import GINConv, GINEConv

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model.ablations.softsort import SoftSortMatcher
from grale.model.autoencoder import GRALE
from grale.model.config import FeaturizerConfig, LossConfig, MatcherConfig, ModelConfig

ATOL_FLOAT32 = 1e-5
PARTS = {
    "encoder": {"encoder": "gin"},
    "decoder": {"decoder": "transformer"},
    "matcher": {"matcher": MatcherConfig(kind="softsort", temperature=1e-3)},
    "featurizer": {"featurizer": FeaturizerConfig(diffusion_order=0, use_paths=False)},
    "noise": {"featurizer": FeaturizerConfig(noise_std=0.0, path_dim=4)},
    "loss": {"loss": LossConfig(objective="pigvae")},
    "pooling": {"pooling": "transport", "num_tokens": 12, "encoder_layers": 1},
}


def build(space: GraphSpace, config: ModelConfig, part: str) -> GRALE:
    torch.manual_seed(0)
    return GRALE(space, replace(config, **PARTS[part])).eval()


def shuffled(graph: Graph, rng: np.random.Generator) -> Graph:
    return graph.permuted(rng.permutation(graph.num_nodes))


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_the_order_of_the_nodes_and_padding_change_no_embedding(
    part, space, tiny_config, coloring_graphs, rng
):
    model = build(space, tiny_config, part)
    expected = model.encode(coloring_graphs)
    moved = [shuffled(graph, rng) for graph in coloring_graphs]
    assert np.abs(model.encode(moved) - expected).max() < ATOL_FLOAT32
    assert np.abs(model.encode(coloring_graphs, batch_size=1) - expected).max() < ATOL_FLOAT32


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_weight_learns_and_the_parts_are_saved(
    part, space, tiny_config, coloring_graphs, tmp_path
):
    model = build(space, tiny_config, part)
    batch = GraphBatch.from_graphs(coloring_graphs)
    noise = model.draw_noise(len(batch), torch.Generator().manual_seed(0))
    model.train().losses(batch, noise)["loss"].backward()
    idle = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert idle == []
    model.eval().save_pretrained(tmp_path)
    again = GRALE.from_pretrained(tmp_path)
    assert np.array_equal(again.encode(coloring_graphs), model.encode(coloring_graphs))
    assert again.reconstruct(coloring_graphs[:2]) == model.reconstruct(coloring_graphs[:2])


@pytest.mark.parametrize("num_kinds", [1, 2])
def test_gin_equals_its_sum_over_neighbours(num_kinds, tiny_config):
    space = GraphSpace(max_nodes=3, num_node_labels=2, num_edge_labels=num_kinds)
    model = build(space, tiny_config, "encoder")
    graph = Graph([0, 1, 0], [(0, 1), (1, 2)], [1, num_kinds])
    inputs = model.featurizer(GraphBatch.from_graphs([graph]))
    nodes = model.encoder.backbone.node_input(inputs.node_feats + inputs.noise)[0]
    for layer, norm in zip(model.encoder.backbone.gin, model.encoder.backbone.norms, strict=True):
        assert isinstance(layer, GINEConv if num_kinds > 1 else GINConv)
        state = norm(nodes)
        rows = []
        for node in range(3):
            total = (1 + layer.eps) * state[node]
            for a, b, label in ((0, 1, 1), (1, 0, 1), (1, 2, num_kinds), (2, 1, num_kinds)):
                if b == node and num_kinds > 1:
                    total = (
                        total
                        + (state[a] + model.encoder.backbone.edge_kinds.weight[label - 1]).relu()
                    )
                elif b == node:
                    total = total + state[a]
            rows.append(nodes[node] + layer.nn(total))
        nodes = torch.stack(rows)
    hidden, pairs = model.encoder.backbone(inputs)
    assert (hidden[0] - nodes).abs().max() < ATOL_FLOAT32
    assert torch.equal(pairs[0, 0, 2], torch.cat([hidden[0, 0], hidden[0, 2]]))


def test_gin_tells_the_two_ends_of_a_directed_edge_apart(tiny_config):
    space = GraphSpace(max_nodes=3, num_node_labels=1, directed=True)
    model = build(
        space, replace(tiny_config, featurizer=FeaturizerConfig(noise_std=0.0)), "encoder"
    )
    fork, join = (
        Graph([0, 0, 0], edges, directed=True) for edges in ([(0, 1), (0, 2)], [(1, 0), (2, 0)])
    )
    first, second = model.encode([fork, join])
    assert np.abs(first - second).max() > 1e-4


def test_pairs_of_slots_are_an_mlp_of_both_nodes(space, tiny_config):
    stack = build(space, tiny_config, "decoder").decoder.stack
    nodes, pairs = stack(torch.randn(2, 12, 16), torch.randn(2, 2, 8))
    weight = torch.cat([stack.pair_source.weight, stack.pair_target.weight], dim=1)
    both = torch.cat([nodes[1, 3], nodes[1, 5]])
    hidden = (weight @ both + stack.pair_source.bias).relu()
    assert (stack.pair_output[1](hidden) - pairs[1, 3, 5]).abs().max() < ATOL_FLOAT32


@torch.no_grad()
def test_softsort_is_its_literal_formula():
    torch.manual_seed(0)
    matcher = SoftSortMatcher(8, MatcherConfig(kind="softsort", temperature=0.02))
    nodes = torch.randn(2, 5, 8)
    log_plan, error = matcher(nodes, nodes)
    for b in range(2):
        scores = [float(matcher.embed_in(nodes)[b, i, 0]) for i in range(5)]
        ranked = sorted(scores, reverse=True)
        total = sum(abs(s - r) for s in scores for r in ranked)
        for i in range(5):
            weights = np.exp([-abs(scores[i] - r) / total / 0.02 for r in ranked])
            assert np.abs(log_plan[b, i].exp().numpy() - weights / weights.sum()).max() < 1e-5
        columns = log_plan[b].exp().sum(0)
        assert float(error[b]) == pytest.approx(float((columns - 1).abs().max()), abs=1e-6)


def test_a_cold_softsort_is_the_sorting_permutation():
    torch.manual_seed(0)
    matcher = SoftSortMatcher(8, MatcherConfig(kind="softsort", temperature=1e-5))
    nodes = torch.randn(3, 6, 8)
    plan = matcher(nodes, nodes).log_plan.exp()
    permutation = matcher.hard(nodes, nodes)
    assert (plan.argmax(dim=2) == permutation).all()
    assert (plan.amax(dim=2) > 0.999).all()
    scores = matcher.embed_in(nodes)[..., 0]
    ranked = torch.empty_like(scores).scatter(1, permutation, scores)
    assert (ranked.diff(dim=1) <= 0).all()


def test_nodes_of_equal_score_do_not_break_softsort():
    matcher = SoftSortMatcher(4, MatcherConfig(kind="softsort", temperature=1e-3))
    nodes = torch.ones(1, 3, 4, requires_grad=True)
    plan = matcher(nodes, nodes).log_plan.exp()
    assert torch.allclose(plan, torch.full((1, 3, 3), 1 / 3))
    plan[0, 0, 0].backward()
    assert bool(nodes.grad.isfinite().all())
    assert sorted(matcher.hard(nodes, nodes)[0].tolist()) == [0, 1, 2]


def test_two_equal_graphs_match_under_softsort(space, tiny_config, coloring_graphs, rng):
    model = build(space, tiny_config, "matcher")
    pairs = [(graph, shuffled(graph, rng)) for graph in coloring_graphs[:4]]
    assert [match.edit_distance for match in model.match_many(pairs)] == [0] * 4
