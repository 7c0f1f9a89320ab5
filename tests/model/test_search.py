"""A graph is found by its embedding, from the latent alone."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

import grale
from grale.data.coloring import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.model.decoder import GraphLogits
from grale.model.reconstruction import reconstruct
from grale.model.search import verified_graphs
from model.sample_graphs import random_graph, symmetric_graphs


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


def test_verify_refuses_lists_of_different_length(tiny_model: GRALE) -> None:
    with pytest.raises(ValueError, match="1 graphs for 2 latents"):
        tiny_model.verify([Graph([0])], np.zeros((2, tiny_model.latent_dim)))


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
        return verified_graphs(model, latent, logits, search)[0]


def test_a_search_finds_more_loses_none_and_keeps_the_order_of_nodes() -> None:
    model = grale.load("coloring")
    graphs = generate_coloring(24, COLORING_VARIANTS["coloring20"], seed=123)
    plain = model.reconstruct(graphs)
    found, mappings = reconstruct(model, graphs, 256, search=48)
    was_right, is_right = (
        [is_isomorphic(*pair) for pair in zip(graphs, again)] for again in (plain, found)
    )
    assert sum(is_right) > sum(was_right)
    assert all(right for right, before in zip(is_right, was_right) if before)
    latents = model.encode(graphs)
    assert model.verify(found, latents).tolist() == is_right
    decoded = model.decode(latents, search=48)
    for graph, again, mapping, right, other in zip(graphs, found, mappings, is_right, decoded):
        assert is_isomorphic(again, other)
        if right:
            assert again == graph
            np.testing.assert_array_equal(mapping, np.arange(graph.num_nodes))


def test_a_search_of_nothing_is_refused(tiny_model: GRALE) -> None:
    latents = tiny_model.encode([Graph([0])])
    with pytest.raises(ValueError, match="search must be at least 1, got 0"):
        tiny_model.decode(latents, search=0)
    with pytest.raises(ValueError, match="search must be at least 1, got 0"):
        tiny_model.reconstruct([Graph([0])], search=0)


def test_molecules_are_found_as_smiles() -> None:
    model = grale.load("molecules")
    smiles = ["CC(=O)Nc1ccc(O)cc1", "CN1CCCC1c1cccnc1", "O=C(O)c1ccccc1O", "CCOC(=O)CC#N"]
    latents = model.encode(smiles)
    wanted = [grale.Graph.from_smiles(entry).to_smiles() for entry in smiles]
    plain, found = (model.decode_smiles(latents, search=search) for search in (1, 128))
    hits = [sum(a == b for a, b in zip(wanted, other)) for other in (plain, found)]
    assert hits[1] > hits[0]
