"""Vectors in, graphs out."""

import numpy as np
import pytest

from grale.graphs.graph import Graph

TOO_LARGE = Graph([0] * 13)


def test_decode_gives_graphs_of_the_space(tiny_model, rng):
    graphs = tiny_model.decode(3 * rng.standard_normal((20, 16)))
    assert len(graphs) == 20
    tiny_model.space.check(graphs)
    assert len(set(graphs)) > 1
    for graph in graphs:
        assert graph == Graph(graph.node_labels, graph.edges, graph.edge_labels)  # passes checks


def test_decode_gives_directed_graphs_of_a_directed_space(directed_model, rng):
    graphs = directed_model.decode(3 * rng.standard_normal((10, 16)))
    directed_model.space.check(graphs)
    assert all(graph.directed for graph in graphs)


@pytest.mark.slow
def test_decode_does_not_depend_on_the_batch_size(tiny_model, rng):
    latents = rng.standard_normal((10, 16)).astype(np.float32)
    assert tiny_model.decode(latents, batch_size=3) == tiny_model.decode(latents)
    assert tiny_model.decode(latents[:0]) == []


def test_decode_refuses_rows_that_are_not_finite(tiny_model, rng):
    latents = rng.standard_normal((4, 16))
    for value in (np.nan, np.inf):
        latents[2, 5] = value
        with pytest.raises(ValueError, match="row 2 of the latents is not finite"):
            tiny_model.decode(latents)
    with pytest.raises(ValueError, match="row 1 of"):
        tiny_model.decode(tiny_model.encode([Graph([0]), TOO_LARGE], on_error="null"))


@pytest.mark.parametrize("shape", [(16,), (2, 15), (2, 2, 8), (0,)])
def test_decode_refuses_other_shapes(tiny_model, shape):
    with pytest.raises(ValueError, match=r"expected latents of shape \(n, 16\), got"):
        tiny_model.decode(np.zeros(shape))


@pytest.mark.slow
def test_rows_that_cannot_be_decoded_leave_a_gap_or_are_left_out(tiny_model) -> None:
    items = [Graph([0, 1], [(0, 1)]), TOO_LARGE, Graph([2])]
    latents = tiny_model.encode(items, on_error="null")
    good = tiny_model.decode(latents[[0, 2]])
    assert tiny_model.decode(latents, on_error="null") == [good[0], None, good[1]]
    assert tiny_model.decode(latents, on_error="skip") == good
    assert tiny_model.decode(latents[1:2], on_error="null") == [None]
    assert tiny_model.decode(latents[1:2], on_error="skip") == []
    with pytest.raises(ValueError, match="row 1 of the latents .* use on_error='null' or 'skip'"):
        tiny_model.decode(latents)
