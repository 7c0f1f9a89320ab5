"""An encoder that looks whether its latent decodes, and tries another draw of the noise if not."""

from __future__ import annotations

import numpy as np
import pytest

import grale
from grale.data.samples import sample_graphs
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.model.reconstruction import reconstruct
from grale.training.evaluation import evaluate

DRAWS = 6
OTHER_SUM_ORDER = 1e-5  # of the length of a latent; different draws differ by a tenth


@pytest.fixture(scope="module")
def model() -> GRALE:
    return grale.load("molecules")


@pytest.fixture(scope="module")
def graphs(model: GRALE) -> list[Graph]:
    """Molecules, a third of which do not come back at once."""
    return sample_graphs(model.space, 64, "library", "test")


def come_back(model: GRALE, graphs: list[Graph], latents: np.ndarray) -> np.ndarray:
    return np.array([is_isomorphic(a, b) for a, b in zip(graphs, model.decode(latents))])


def test_more_graphs_come_back_and_none_is_lost(model: GRALE, graphs: list[Graph]) -> None:
    once, several = model.encode(graphs), model.encode(graphs, draws=DRAWS)
    before, after = (come_back(model, graphs, latents) for latents in (once, several))
    assert (after >= before).all()
    assert after.sum() > before.sum()
    is_kept = before | ~after  # those that came back at once, and those that never do
    np.testing.assert_array_equal(several[is_kept], once[is_kept])
    assert not np.isclose(several[~is_kept], once[~is_kept]).all(axis=1).any()


def test_the_embedding_depends_on_the_graph_alone(
    model: GRALE, graphs: list[Graph], rng: np.random.Generator
) -> None:
    listed_otherwise = [graph.permuted(rng.permutation(graph.num_nodes)) for graph in graphs]
    latents = model.encode(graphs, draws=DRAWS)
    again = model.encode(listed_otherwise[::-1], batch_size=7, draws=DRAWS)[::-1]
    lengths = np.linalg.norm(latents, axis=1)
    assert (np.linalg.norm(latents - again, axis=1) <= OTHER_SUM_ORDER * lengths).all()


def test_verify_knows_the_draws(model: GRALE, graphs: list[Graph]) -> None:
    latents = model.encode(graphs, draws=DRAWS)
    assert model.verify(graphs, latents, draws=DRAWS).all()
    assert not model.verify(graphs, latents).all()
    assert not model.verify(graphs[1:], latents[:-1], draws=DRAWS).any()


@pytest.mark.parametrize("search", [1, 8])
def test_reconstruction_is_decoding_of_the_checked_embedding(
    model: GRALE, graphs: list[Graph], search: int
) -> None:
    latents = model.encode(graphs, draws=DRAWS)
    decoded = model.decode(latents, search=search)
    result = reconstruct(model, graphs, batch_size=16, search=search, draws=DRAWS)
    for graph, one, other, mapping in zip(graphs, decoded, *result):
        assert is_isomorphic(one, other)
        if is_isomorphic(graph, other):
            matched = other.permuted(mapping)
            np.testing.assert_array_equal(matched.node_labels, graph.node_labels)
    assert model.reconstruct(graphs, 16, search, draws=DRAWS) == result.graphs


def test_scores_say_what_the_draws_are_worth(model: GRALE, graphs: list[Graph]) -> None:
    once, several = (evaluate(model, graphs, draws=draws) for draws in (1, DRAWS))
    assert several.accuracy > once.accuracy
    assert several.edit_distance < once.edit_distance


def test_no_draw_at_all_is_refused(model: GRALE) -> None:
    for refused in (model.encode, model.reconstruct):
        with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
            refused([Graph([0])], draws=0)
    with pytest.raises(ValueError, match="draws must be at least 1"):
        model.verify([Graph([0])], np.zeros((1, model.latent_dim)), draws=-1)
