"""A graph is found by its embedding, from the latent alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

import grale
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import _in_order, reconstruct
from grale.codec.search import verified_graphs
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.model.config import FeaturizerConfig
from model.sample_graphs import symmetric_graphs
from strategies import random_graph


def logits_of(graph: Graph, space: GraphSpace) -> GraphLogits:
    """What a perfect decoder would say, with margins that grow from entry to entry."""
    batch = GraphBatch.from_graphs([graph], space.max_nodes)
    size = space.max_nodes
    margins = torch.arange(size)[:, None] + torch.arange(size) + 10.0
    edges = one_hot(batch.edge_labels, space.num_edge_classes) * margins[None, :, :, None]
    nodes = one_hot(batch.node_labels, space.num_node_labels) * 10.0
    mask = (batch.node_mask.float() - 0.5) * 20
    return GraphLogits(mask, nodes, nodes[..., :0], edges, edges[..., :0])


def one_edit_away(graph: Graph) -> list[Graph]:
    """The graph with each of its nodes relabelled, and without each of its edges."""
    found = []
    for node in range(graph.num_nodes):
        labels = graph.node_labels.copy()
        labels[node] = (labels[node] + 1) % 4
        found.append(Graph(labels, graph.edges, graph.edge_labels, graph.directed))
    for edge in range(graph.num_edges):
        rest = np.arange(graph.num_edges) != edge
        found.append(
            Graph(graph.node_labels, graph.edges[rest], graph.edge_labels[rest], graph.directed)
        )
    return found


@pytest.mark.slow
def test_only_the_graph_itself_is_verified(
    tiny_model: GRALE, coloring_graphs: list[Graph], rng: np.random.Generator
) -> None:
    for graph in [*coloring_graphs[:4], *symmetric_graphs()]:
        (latent,) = tiny_model.encode([graph])
        again = graph.permuted(rng.permutation(graph.num_nodes))
        assert tiny_model.verify([again], latent[None].astype(np.float16)).all()
        others = [other for other in one_edit_away(graph) if not is_isomorphic(graph, other)]
        if others:
            assert not tiny_model.verify(others, np.tile(latent, (len(others), 1))).any()


def test_verify_takes_a_latent_for_each_graph(tiny_model: GRALE) -> None:
    with pytest.raises(ValueError, match="1 graphs for 2 latents"):
        tiny_model.verify([Graph([0])], np.zeros((2, tiny_model.latent_dim)))
    with pytest.raises(ValueError, match="expected latents of shape"):
        tiny_model.verify([Graph([0])], np.zeros((1, 3)))
    assert tiny_model.verify([], np.zeros((0, tiny_model.latent_dim))).shape == (0,)


@pytest.mark.slow
def test_verify_is_in_full_precision_under_autocast(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    latents = tiny_model.encode(coloring_graphs)
    with torch.autocast("cpu", torch.bfloat16):
        assert tiny_model.verify(coloring_graphs, latents, batch_size=3).all()


@pytest.mark.slow
def test_what_a_model_cannot_tell_apart_is_verified(tiny_config) -> None:
    space = GraphSpace(max_nodes=6, num_node_labels=1)
    blind = replace(tiny_config, encoder="gin", featurizer=FeaturizerConfig(noise_std=0.0))
    model = GRALE(space, blind).eval()
    hexagon = Graph([0] * 6, [(i, (i + 1) % 6) for i in range(6)])
    triangles = Graph([0] * 6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    assert model.verify([hexagon], model.encode([triangles])).all()


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_a_wrong_decision_is_undone(directed: bool, tiny_config, rng: np.random.Generator) -> None:
    space = GraphSpace(max_nodes=8, num_node_labels=4, num_edge_labels=2, directed=directed)
    torch.manual_seed(0)
    model = GRALE(space, tiny_config).eval()
    graph = random_graph(rng, 6, directed=directed)
    latent = torch.tensor(model.encode([graph]))
    logits = logits_of(graph, space)
    assert is_isomorphic(verified(model, latent, logits, 2), graph)
    mislead(logits.node_label[0, 2])
    mislead(logits.edge_label[0, 0, 1])
    if not directed:
        logits.edge_label[0, 1, 0] = logits.edge_label[0, 0, 1]
    assert verified(model, latent, logits, 2) is None
    found = verified(model, latent, logits, 64)
    assert found is not None
    assert is_isomorphic(found, graph)


def mislead(scores: torch.Tensor) -> None:
    """Put the right class second."""
    right = int(scores.argmax())
    scores[right], scores[(right + 1) % len(scores)] = 4.0, 5.0


def verified(model: GRALE, latent: torch.Tensor, logits: GraphLogits, search: int) -> Graph | None:
    with torch.no_grad():
        return verified_graphs(
            model, latent, logits, CodecOptions(searched_graphs=search, batch_size=5)
        )[0]


@pytest.mark.slow
@pytest.mark.parametrize("at_size", [False, True])
def test_a_search_loses_nothing_and_keeps_the_order_of_nodes(at_size: bool) -> None:
    model = grale.load("coloring")
    graphs = generate_coloring(16, COLORING_VARIANTS["coloring20"], seed=123)
    plain = reconstruct(model, graphs, at_size=at_size).graphs
    found, mappings, _ = reconstruct(model, graphs, CodecOptions(searched_graphs=32), at_size)
    was_right, is_right = (
        [is_isomorphic(*pair) for pair in zip(graphs, again)] for again in (plain, found)
    )
    assert all(now or not before for now, before in zip(is_right, was_right))
    assert model.verify(found, model.encode(graphs)).tolist() == is_right
    for graph, again, mapping, right in zip(graphs, found, mappings, is_right):
        if right:
            assert again == graph
            np.testing.assert_array_equal(mapping, np.arange(graph.num_nodes))


@pytest.mark.slow
def test_decoding_finds_the_same_in_batches_of_any_size() -> None:
    model = grale.load("coloring")
    graphs = generate_coloring(6, COLORING_VARIANTS["coloring20"], seed=124)
    latents = model.encode(graphs)
    one_by_one, together = (model.decode(latents, size, search=8) for size in (1, 256))
    assert one_by_one == together
    again = model.reconstruct(graphs, search=8)
    assert all(is_isomorphic(*pair) for pair in zip(together, again))


def test_nodes_without_a_partner_come_last() -> None:
    found, places = _in_order(Graph([5, 6, 7]), np.array([1, 0]), np.array([2, 0, 1]))
    assert found.node_labels.tolist() == [7, 6, 5]
    assert places.tolist() == [0, 1]
    found, places = _in_order(Graph([5]), np.array([1, 0]), np.array([0]))
    assert found.node_labels.tolist() == [5]
    assert places.tolist() == [-1, 0]


def test_a_search_of_nothing_is_refused(tiny_model: GRALE) -> None:
    latents = tiny_model.encode([Graph([0])])
    with pytest.raises(ValueError, match="search must be at least 1, got 0"):
        tiny_model.decode(latents, search=0)
    with pytest.raises(ValueError, match="search must be at least 1, got 0"):
        tiny_model.reconstruct([Graph([0])], search=0)


@pytest.mark.slow
def test_molecules_are_found_as_smiles() -> None:
    model = grale.load("molecules@1")
    smiles = ["CC(=O)Nc1ccc(O)cc1", "CN1CCCC1c1cccnc1", "O=C(O)c1ccccc1O", "CCOC(=O)CC#N"]
    latents = model.encode(smiles)
    found = model.decode_smiles(latents, search=128)
    best = [first for first, *_ in model.decode_candidates(latents, 2, search=128)]
    is_right = model.verify(best, latents)
    wanted = [Graph.from_smiles(entry).to_smiles() for entry in smiles]
    assert [entry == other for entry, other in zip(best, wanted)] == is_right.tolist()
    assert all(entry == other for entry, other, right in zip(found, best, is_right) if right)
