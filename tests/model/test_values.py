"""Models of graphs with continuous features; models without them have no trace of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.data.packed import PackedGraphs
from grale.data.storage import from_table, to_table
from grale.graphs.attributes import Attributes, Features
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.features import is_isomorphic_within, node_feature_errors
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig

KNOWN = Attributes(
    node_features=Features(names=("pos", "pos"), means=(10.0, 0.0), deviations=(2.0, 1.0)),
    edge_features=Features(names=("weight",), means=(1.0,), deviations=(0.5,)),
)
SPACE = GraphSpace(max_nodes=5, num_node_labels=1, attributes=KNOWN)


def geometric(seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    points = rng.normal((10, 0), (2, 1), (5, 2))
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    return Graph(
        [0] * 5, pairs, node_features=points, edge_features=rng.random((5, 1)), attributes=KNOWN
    )


@pytest.fixture
def model(tiny_config: ModelConfig) -> GRALE:
    torch.manual_seed(0)
    return GRALE(SPACE, replace(tiny_config, pooling="transport", num_tokens=5)).eval()


def test_the_embedding_does_not_depend_on_the_order_of_nodes(model: GRALE) -> None:
    graph = geometric(0)  # a ring of equal nodes: only features tell them apart
    moved = graph.permuted([3, 1, 4, 0, 2])
    first, second, other = model.encode([graph, moved, geometric(1)])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(first - other).max() > 1e-3


def test_a_backbone_that_cannot_read_features_says_so(tiny_config: ModelConfig) -> None:
    config = replace(tiny_config, encoder="gin")
    with pytest.raises(ValueError, match="encoder=gin takes no continuous features"):
        GRALE(SPACE, config)
    GRALE(replace(SPACE, attributes=None), config)


@pytest.mark.slow
def test_decoded_graphs_have_features_in_their_own_units(model: GRALE) -> None:
    (again,) = model.reconstruct([geometric(0)])
    assert again.node_features is not None
    assert again.node_features.shape == (again.num_nodes, 2)
    assert set(again.node_values()[0]) == {"pos"}
    (decoded,) = model.decode(model.encode([geometric(0)]))
    assert decoded.attributes is KNOWN
    with pytest.raises(ValueError, match="leave it out for a model with continuous features"):
        model.decode(model.encode([geometric(0)]), search=4)


def test_a_graph_without_its_features_is_refused(model: GRALE) -> None:
    assert model.why_not([Graph([0])]) == ["the graph has 0 features per node, but 2 are expected"]


@pytest.mark.slow
def test_training_lowers_the_error_of_features(model: GRALE) -> None:
    batch = GraphBatch.from_graphs([geometric(seed) for seed in range(4)])
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    model.train()
    noise = model.draw_noise(4, torch.Generator().manual_seed(0))
    terms = []
    for _ in range(40):
        losses = model.losses(batch, noise)
        optimizer.zero_grad()
        losses["loss"].backward()
        optimizer.step()
        terms.append([float(losses[name]) for name in ("node_feature", "edge_feature")])
    assert terms[-1][0] < 0.7 * terms[0][0]
    assert terms[-1][1] < 0.7 * terms[0][1]


def test_a_model_without_features_has_no_weights_for_them(tiny_config: ModelConfig) -> None:
    plain = GRALE(GraphSpace(max_nodes=5, num_node_labels=1), tiny_config)
    more = {"encoder.backbone.value_input.weight", "encoder.backbone.edge_input.value.weight"}
    assert GRALE(SPACE, tiny_config).state_dict().keys() - plain.state_dict().keys() == more


@pytest.mark.slow
def test_dropout_acts_in_training_only(tiny_config: ModelConfig) -> None:
    space = GraphSpace(max_nodes=5, num_node_labels=1)
    torch.manual_seed(0)
    model = GRALE(space, replace(tiny_config, dropout=0.5))
    batch = GraphBatch.from_graphs([Graph([0, 0, 0], [(0, 1), (1, 2)])])
    noise = model.draw_noise(1, torch.Generator().manual_seed(0))
    model.train()
    first, second = (float(model.losses(batch, noise)["loss"].detach()) for _ in range(2))
    assert first != second
    model.eval()
    first, second = (float(model.losses(batch, noise)["loss"].detach()) for _ in range(2))
    assert first == second
    with pytest.raises(ValueError, match="dropout needs encoder=evoformer"):
        replace(tiny_config, dropout=0.5, encoder="gin")


def test_features_survive_a_shard() -> None:
    packed = PackedGraphs.from_graphs([geometric(0), geometric(1)])
    again = from_table(to_table(packed), directed=False)
    assert again.graphs() == [geometric(0), geometric(1)]
    rows = np.array([1, 0])
    wanted = GraphBatch.from_graphs([geometric(1), geometric(0)])
    assert torch.equal(again.batch(rows).node_features, wanted.node_features)
    assert torch.equal(again.batch(rows).edge_features, wanted.edge_features)


def test_errors_are_in_deviations_and_within_a_tolerance_graphs_are_equal() -> None:
    graph = geometric(0)
    off = Graph(
        graph.node_labels,
        graph.edges,
        node_features=graph.node_features + [1.0, 0.0],
        edge_features=graph.edge_features,
        attributes=KNOWN,
    )
    errors = node_feature_errors(graph, off.permuted([4, 3, 2, 1, 0]), [4, 3, 2, 1, 0])
    np.testing.assert_allclose(errors, [[0.5, 0.0]] * 5, atol=1e-5)
    assert is_isomorphic_within(graph, off, 1.01)
    assert not is_isomorphic_within(graph, off, 0.5)
