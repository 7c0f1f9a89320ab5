from dataclasses import replace

import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model import backbone as backbone_module
from grale.model import pooling as pooling_module
from grale.model.backbone import EdgeInput
from grale.model.config import FeaturizerConfig
from grale.model.featurizer import Featurizer
from model.encoder_checks import (
    WholeEncoder,
    change_under_padding,
    change_under_permutation,
    with_random_noise,
)
from model.sample_graphs import symmetric_graphs
from reference.featurizer_reference import edge_features_reference
from strategies import random_graph

ATOL = {torch.float32: 1e-4, torch.float64: 1e-8}  # two layers of normalised values
ATOL_PADDING = 1e-5  # the same sums over more zeros, in float32


@pytest.fixture(scope="module")
def encoder(space, tiny_config):
    torch.manual_seed(0)
    return WholeEncoder(space, tiny_config).eval()


@pytest.fixture
def graphs(rng):
    return [*symmetric_graphs(), *(random_graph(rng) for _ in range(4)), random_graph(rng, 12)]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_permuting_the_input_permutes_nodes_and_leaves_the_latent(
    space, tiny_config, graphs, dtype
):
    torch.manual_seed(0)
    encoder = WholeEncoder(space, tiny_config).to(dtype)
    inputs = with_random_noise(encoder, graphs)
    assert inputs.node_feats.dtype == dtype
    assert encoder(inputs).latent.std(dim=0).min() > 100 * ATOL[torch.float32]  # graphs differ
    for change in change_under_permutation(encoder, inputs):
        assert change < ATOL[dtype]


def test_an_encoder_that_sees_positions_breaks_the_order_test(space, tiny_config, graphs):
    class Positional(WholeEncoder):
        def forward(self, inputs):
            positions = torch.arange(inputs.noise.shape[1])[:, None] / 10
            return super().forward(replace(inputs, noise=inputs.noise + positions))

    torch.manual_seed(0)
    encoder = Positional(space, tiny_config)
    changes = change_under_permutation(encoder, with_random_noise(encoder, graphs))
    assert min(changes) > 10 * ATOL[torch.float32]


@pytest.mark.slow
def test_padding_and_batch_mates_change_nothing(encoder, graphs):
    assert {graph.num_nodes for graph in graphs} >= {1, 12}
    assert change_under_padding(encoder, graphs) < ATOL_PADDING


@pytest.mark.slow
def test_an_encoder_without_the_mask_breaks_the_padding_test(encoder, graphs, monkeypatch):
    unmasked = lambda mask, dtype: torch.zeros(len(mask), 1, 1, mask.shape[1], dtype=dtype)  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr(backbone_module, "mask_bias", unmasked)
        assert change_under_padding(encoder, graphs) > 10 * ATOL_PADDING
    with monkeypatch.context() as patch:
        patch.setattr(pooling_module, "MASKED", 0.0)
        assert change_under_padding(encoder, graphs) > 10 * ATOL_PADDING


def test_padding_rows_are_the_learned_vector(encoder, graphs):
    inputs = with_random_noise(encoder, [g for g in graphs if g.num_nodes < 9])
    nodes, latent = encoder(inputs)[:2]
    assert nodes.shape == (len(latent), 12, 16)
    assert latent.shape[1:] == (2, 8)
    mask = torch.nn.functional.pad(inputs.graphs.node_mask, (0, 12 - inputs.graphs.max_nodes))
    assert (nodes[~mask] == encoder.encoder.padding).all()
    assert not (nodes[mask] == encoder.encoder.padding).all(dim=-1).any()


def test_the_latent_depends_on_labels_edges_and_noise(encoder, rng):
    graph = random_graph(rng, 7)
    inputs = with_random_noise(encoder, [graph])
    before = encoder(inputs).latent
    louder = replace(inputs, noise=2 * inputs.noise)
    labels = (inputs.graphs.node_labels + 1) % 4
    edges = torch.where(inputs.graphs.edge_labels > 0, 3 - inputs.graphs.edge_labels, 0)
    relabelled = GraphBatch(inputs.graphs.node_mask, labels, inputs.graphs.edge_labels)
    rewired = GraphBatch(inputs.graphs.node_mask, inputs.graphs.node_labels, edges)
    noise = inputs.noise / 0.1
    others = [louder, encoder.featurizer(relabelled, noise), encoder.featurizer(rewired, noise)]
    assert all((encoder(other).latent - before).abs().max() > 1e-3 for other in others)


@pytest.mark.parametrize("use_paths", [True, False])
def test_edge_input_is_one_linear_layer_of_the_concatenation(rng, use_paths):
    space = GraphSpace(max_nodes=8, num_node_labels=3, num_edge_labels=2)
    config = FeaturizerConfig(path_dim=6, use_paths=use_paths)
    featurizer = Featurizer(space, config)
    torch.manual_seed(0)
    layer = EdgeInput(featurizer, 5)
    parts = [layer.source.weight, layer.target.weight, layer.edge_label.t()]
    parts += [layer.path.weight] if use_paths else []
    width = sum(part.shape[1] for part in parts)
    linear = torch.nn.Linear(width, 5)
    with torch.no_grad():
        linear.weight.copy_(torch.cat(parts, dim=1))
        linear.bias.copy_(layer.source.bias)
    path_dim = 6 if use_paths else 0
    for size in (1, 4, 8):
        graph = random_graph(rng, size, num_node_labels=3)
        inputs = featurizer(GraphBatch.from_graphs([graph]))
        concatenated = torch.tensor(edge_features_reference(graph, 3, 3, 2, path_dim)).float()
        torch.testing.assert_close(layer(inputs)[0], linear(concatenated), atol=1e-5, rtol=1e-5)


def test_edges_see_no_noise(encoder, graphs):
    """C(x) is without noise: only F carries it (paper: appendix "Featurizer")."""
    inputs = with_random_noise(encoder, graphs)
    quiet = replace(inputs, noise=torch.zeros_like(inputs.noise))
    edge_input = encoder.encoder.backbone.edge_input
    assert torch.equal(edge_input(inputs), edge_input(quiet))
