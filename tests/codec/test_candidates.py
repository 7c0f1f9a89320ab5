"""The likeliest graphs come in order, and the first is the most likely one."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
import torch

from grale.codec.candidates import likeliest_graphs
from grale.codec.logits import GraphLogits
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space


def logits_of(size: int = 3, labels: int = 2, classes: int = 2, seed: int = 0) -> GraphLogits:
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randn(1, size, size, classes, generator=generator)
    return GraphLogits(
        torch.randn(1, size, generator=generator),
        torch.randn(1, size, labels, generator=generator),
        torch.zeros(1, size, 0),
        edges + edges.transpose(1, 2),
        torch.zeros(1, size, size, 0),
    )


def log_likelihood(logits: GraphLogits, exists, nodes, edges) -> float:
    """Sum over the decisions that make the graph, written out."""
    total = 0.0
    for node, there in enumerate(exists):
        total += float(torch.nn.functional.logsigmoid(logits.node_mask[0, node] * (2 * there - 1)))
    kept = [node for node, there in enumerate(exists) if there]
    for node in kept:
        total += float(logits.node_label[0, node].log_softmax(0)[nodes[node]])
    for a, b in [(a, b) for a in kept for b in kept if a < b]:
        total += float(logits.edge_label[0, a, b].log_softmax(0)[edges[a, b]])
    return total


@pytest.mark.parametrize("seed", range(5))
def test_the_first_is_the_most_likely_graph(seed) -> None:
    logits = logits_of(6, 4, 3, seed)
    first = next(likeliest_graphs(logits, 0, directed=False))
    assert first == logits.most_likely(directed=False).to_graphs()[0]


@pytest.mark.parametrize("seed", range(3))
def test_graphs_of_all_slots_come_in_the_order_of_their_likelihood(seed) -> None:
    """With all slots sure to exist, the order is that of the likelihood over all graphs."""
    logits = replace(logits_of(3, 2, 2, seed), node_mask=torch.full((1, 3), 50.0))
    scored = []
    for nodes in product(range(2), repeat=3):
        for a, b, c in product(range(2), repeat=3):
            edges = np.array([[0, a, b], [a, 0, c], [b, c, 0]])
            graph = Graph.from_label_matrix(np.array(nodes), edges)
            scored.append((log_likelihood(logits, [1, 1, 1], nodes, edges), graph))
    scored.sort(key=lambda pair: -pair[0])
    found = list(islice(likeliest_graphs(logits, 0, directed=False), len(scored)))
    assert found == [graph for _, graph in scored]


def test_directed_graphs_change_one_direction_at_a_time() -> None:
    graphs = list(islice(likeliest_graphs(logits_of(seed=1), 0, directed=True), 20))
    assert all(graph.directed for graph in graphs)
    assert len(set(graphs)) > 5


@pytest.mark.slow
def test_molecules_are_decoded_or_none(molecule_model) -> None:
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(5, molecule_model.latent_dim))
    strict = molecule_model.decode_smiles(latents)
    assert len(strict) == 5
    for smiles in strict:
        assert smiles is None or Graph.from_smiles(smiles).num_nodes <= 10
    several = molecule_model.decode_candidates(latents, candidates=3, tries=40)
    assert all(len(best) <= 3 and len(set(best)) == len(best) for best in several)
    for one, best in zip(strict, several, strict=True):
        assert one is None or one == best[0]
    assert sum(map(len, several)) >= sum(smiles is not None for smiles in strict)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_molecules_in_every_form_have_one_embedding(molecule_model) -> None:
    from rdkit import Chem

    graph = Graph.from_smiles("CCO")
    forms = ["CCO", "OCC", Chem.MolFromSmiles("CCO"), graph, graph.to_networkx(), graph.to_pyg()]
    rows = molecule_model.encode(forms)
    np.testing.assert_allclose(rows, np.repeat(rows[:1], len(forms), 0), atol=1e-4)
    assert np.abs(rows[0] - molecule_model.encode(["CCC"])[0]).max() > 1e-3


def test_bad_molecules_each_have_their_reason(molecule_model, tiny_model) -> None:
    items = ["CCO", "", "xyz", "C" * 11, "*C", 3]
    reasons = molecule_model.why_not(items)
    assert reasons[0] is None
    assert len(set(reasons)) == len(items)
    rows = molecule_model.encode(items, on_error="null")
    assert np.isnan(rows[1:]).all()
    assert np.isfinite(rows[0]).all()
    assert molecule_model.encode(items, on_error="skip").shape[0] == 1
    with pytest.raises(ValueError, match="item 1: the SMILES string is empty"):
        molecule_model.encode(items)
    with pytest.raises(ValueError, match="not trained on molecules"):
        tiny_model.encode(["CCO"])
    with pytest.raises(TypeError, match="not trained on molecules"):
        tiny_model.decode_smiles(np.zeros((1, tiny_model.latent_dim)))
    assert molecule_space(10) == molecule_model.space


@pytest.mark.slow
def test_candidates_of_a_row_that_is_not_finite_follow_on_error(molecule_model) -> None:
    latents = molecule_model.encode(["CCO", "xyz", "CCN"], on_error="null")
    assert np.isnan(latents[1]).all()
    good = molecule_model.decode_candidates(latents[[0, 2]], candidates=2)
    assert len(good) == 2
    found = {
        choice: molecule_model.decode_candidates(latents, candidates=2, on_error=choice)
        for choice in ("null", "skip")
    }
    assert found == {"null": [good[0], None, good[1]], "skip": good}
    with pytest.raises(ValueError, match="row 1 of the latents .* use on_error='null' or 'skip'"):
        molecule_model.decode_candidates(latents, candidates=2, on_error="raise")
