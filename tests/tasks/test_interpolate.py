"""Interpolation starts and ends at the graphs, and frames are matched."""

from __future__ import annotations

import numpy as np
import pytest

import grale
from grale.data.samples import sample_graphs
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.tasks.edit import edit
from grale.tasks.interpolate import follow, interpolate
from model.sample_graphs import with_odd_edges


@pytest.mark.slow
def test_the_ends_are_the_decoded_graphs(tiny_model: GRALE, coloring_graphs: list[Graph]) -> None:
    first, second = coloring_graphs[:2]
    path = interpolate(tiny_model, first, second, steps=5, refine=0)
    ends = tiny_model.decode(tiny_model.encode([first, second]))
    assert is_isomorphic(path.graphs[0], ends[0])
    assert is_isomorphic(path.graphs[-1], ends[1])
    assert path.positions == pytest.approx([0, 0.25, 0.5, 0.75, 1])


@pytest.mark.slow
def test_the_ends_are_the_graphs_themselves_where_the_encoder_misses_them() -> None:
    model = grale.load("molecules@1")
    molecules = sample_graphs(model.space, 48, "library", "test")
    graphs = with_odd_edges(molecules, np.random.default_rng(0), 2, model.space.num_edge_labels)
    pairs = zip(graphs, model.reconstruct(graphs))
    first, second = [graph for graph, again in pairs if not is_isomorphic(graph, again)][:2]
    path = interpolate(model, first, second, steps=3)
    assert is_isomorphic(path.graphs[0], first)
    assert is_isomorphic(path.graphs[-1], second)
    start = edit(model, second, lambda z: z.sum(dim=1), num_steps=1).steps[0]
    assert is_isomorphic(start.graph, second)


def test_mappings_lead_from_each_frame_to_the_one_before(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    frames = coloring_graphs[:4]
    for later, earlier, mapping in zip(frames[1:], frames, follow(tiny_model, frames)):
        assert mapping.shape == (later.num_nodes,)
        used = mapping[mapping >= 0]
        assert len(np.unique(used)) == len(used)
        assert used.max() < earlier.num_nodes


def test_a_graph_follows_itself_node_by_node(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    graph = coloring_graphs[0]
    (mapping,) = follow(tiny_model, [graph, graph])
    assert graph.permuted(mapping) == graph


def test_fewer_than_two_steps_are_refused(tiny_model: GRALE) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        interpolate(tiny_model, Graph([0]), Graph([1]), steps=1)
