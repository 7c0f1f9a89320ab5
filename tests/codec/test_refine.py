"""An encoder that looks whether its latent decodes, and moves it if not."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import grale
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.data.samples import sample_graphs
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.graphvae.model import GraphVAE
from grale.training.evaluation import evaluate
from model.sample_graphs import with_odd_edges

pytestmark = pytest.mark.slow

STEPS = 20
FEW = 2  # rounding grows from step to step
OTHER_SUM_ORDER = 1e-3  # of the length of a latent, as in `verify`; a step has thirty times that


@pytest.fixture(scope="module")
def model() -> GRALE:
    return grale.load("molecules@1")


@pytest.fixture(scope="module")
def graphs(model: GRALE) -> list[Graph]:
    """Molecules, half of them with two odd bonds: many of those do not come back at once."""
    molecules = sample_graphs(model.space, 48, "library", "test")
    odd = with_odd_edges(molecules[:24], np.random.default_rng(0), 2, model.space.num_edge_labels)
    return [*odd, *molecules[24:]]


def come_back(model: GRALE, graphs: list[Graph], latents: np.ndarray) -> np.ndarray:
    return np.array([is_isomorphic(a, b) for a, b in zip(graphs, model.decode(latents))])


def test_more_graphs_come_back_and_the_others_are_left_alone(
    model: GRALE, graphs: list[Graph]
) -> None:
    guess, refined = model.encode(graphs), model.encode(graphs, refine=STEPS)
    before, after = (come_back(model, graphs, latents) for latents in (guess, refined))
    assert 8 <= (~before).sum() <= 40  # some do, some do not
    assert (after >= before).all()
    assert (~after).sum() <= 0.5 * (~before).sum()
    np.testing.assert_allclose(refined[before], guess[before], atol=1e-5)
    lengths = np.linalg.norm(guess, axis=1)
    moved = np.linalg.norm(refined - guess, axis=1) / lengths
    assert (moved[~before] > 0.005).all()
    assert moved.max() < 0.5


def test_the_embedding_depends_on_the_graph_alone(
    model: GRALE, graphs: list[Graph], rng: np.random.Generator
) -> None:
    listed_otherwise = [graph.permuted(rng.permutation(graph.num_nodes)) for graph in graphs]
    latents = model.encode(graphs, refine=FEW)
    again = model.encode(listed_otherwise[::-1], batch_size=7, refine=FEW)[::-1]
    lengths = np.linalg.norm(latents, axis=1)
    assert (np.linalg.norm(latents - again, axis=1) <= OTHER_SUM_ORDER * lengths).all()


def test_the_loss_that_is_followed_is_that_of_training(model: GRALE, graphs: list[Graph]) -> None:
    """In double precision: one puts the nodes into canonical order first, the other does not."""
    model = copy.deepcopy(model).double()
    batch = GraphBatch.from_graphs(graphs[:8], model.space.max_nodes)
    with torch.no_grad():
        start = model.encoded(batch)
        logits, losses = start.compare(start.latents, list(range(8)))
        whole = model(batch)
    torch.testing.assert_close(start.latents, whole.latent.flatten(1))
    torch.testing.assert_close(logits.edge_label, whole.decoded.logits.edge_label)
    torch.testing.assert_close(losses.mean(), whole.terms.total(model.config.loss))
    with torch.no_grad():
        _, some = start.compare(start.latents[[5, 2]], [5, 2])
    torch.testing.assert_close(some, losses[[5, 2]], atol=1e-5, rtol=1e-4)


def test_weights_and_their_gradients_are_left_alone(model: GRALE, graphs: list[Graph]) -> None:
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    model.encode(graphs[:12], refine=2)
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())


def test_reconstruction_is_decoding_of_the_refined_embedding(
    model: GRALE, graphs: list[Graph]
) -> None:
    decoded = model.decode(model.encode(graphs, 16, refine=FEW))
    result = reconstruct(model, graphs, CodecOptions(batch_size=16, refine_steps=FEW))
    for graph, one, other, mapping in zip(graphs, decoded, result.graphs, result.mappings):
        assert is_isomorphic(one, other)
        if is_isomorphic(graph, other) and (mapping >= 0).all():
            np.testing.assert_array_equal(other.node_labels[mapping], graph.node_labels)
    assert model.reconstruct(graphs, 16, refine=FEW) == result.graphs


def test_scores_say_what_the_steps_are_worth(model: GRALE, graphs: list[Graph]) -> None:
    once, refined = (
        evaluate(model, graphs, CodecOptions(refine_steps=steps)) for steps in (0, STEPS)
    )
    assert refined.accuracy > once.accuracy
    assert refined.edit_distance < once.edit_distance


def test_what_makes_no_sense_is_refused(model: GRALE) -> None:
    for refused in (model.encode, model.reconstruct):
        with pytest.raises(ValueError, match="refine must be at least 0, got -1"):
            refused([Graph([0])], refine=-1)
    with pytest.raises(ValueError, match="choose one"):
        model.reconstruct([Graph([0])], search=2, refine=2)
    rival = GraphVAE(model.space, GraphVaeConfig())
    with pytest.raises(ValueError, match="graphvae cannot refine latents"):
        rival.encode([Graph([0])], refine=1)
