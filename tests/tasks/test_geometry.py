"""The geometry of a space: edits are counted right, a trained space is told from an untrained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import grale
from grale.data.samples import sample_graphs
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.edit_distance import edit_distance
from grale.model.autoencoder import GRALE
from grale.tasks.geometry import edited, is_in_one_piece, measure_geometry, suits
from grale.tasks.heads import HEADS, build_head, r2_of
from grale.tasks.held_out import explained


@pytest.mark.slow
def test_edited_graphs_are_at_most_so_many_edits_away(coloring_graphs, rng) -> None:
    space = GraphSpace(max_nodes=10, num_node_labels=4)
    changed = []
    for count in (1, 3, 8):
        for graph in coloring_graphs:
            other = edited(graph, count, space, rng)
            distance = edit_distance(graph, other, np.arange(graph.num_nodes))
            assert distance <= count
            changed.append(distance)
            if count == 1:
                assert distance == 1
            assert space.why_not(other) is None
    assert max(changed) > 4


@pytest.mark.slow
def test_only_graphs_in_one_piece_and_of_usual_size_suit() -> None:
    space = grale.load("molecules@1").space
    assert not is_in_one_piece(Graph([0, 0, 0], [(0, 1)]))
    assert suits(space, Graph.from_smiles("CCCCCCCCCC"))
    assert not suits(space, Graph.from_smiles("CC"))
    assert not suits(space, Graph.from_smiles("CCCCCCCCCC.O"))
    assert suits(GraphSpace(max_nodes=10, num_node_labels=4), Graph([0]))


@pytest.mark.slow
def test_a_trained_space_is_told_from_an_untrained_one() -> None:
    trained = grale.load("coloring-10")
    graphs = sample_graphs(trained.space, 240, "coloring10", "valid")
    torch.manual_seed(0)
    untrained = GRALE(trained.space, trained.config).eval()
    good, bad = measure_geometry(trained, graphs), measure_geometry(untrained, graphs)
    assert good.moved.value > bad.moved.value + 0.1
    assert good.edits.description > 0.3
    assert good.ridge["size"].description > 0.9
    assert good.num_graphs == 240
    again = measure_geometry(trained, graphs)
    assert again == good


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), [(t, n) for t, heads in HEADS.items() for n in heads])
def test_every_head_learns_what_can_be_learned(task: str, name: str, rng) -> None:
    vectors = rng.standard_normal((300, 4))
    signal = vectors[:, 0] - vectors[:, 1]
    values = signal if task == "regression" else (signal > 0).astype(int)
    head = build_head(name, task).fit(vectors[:240], values[:240])
    noise = build_head(name, task).fit(vectors[:240], rng.permutation(values[:240]))

    def score(fitted: Any) -> float:
        """R2, or the share of right classes."""
        found, true = fitted.predict(vectors[240:]), values[240:]
        return float(explained(true, found) if task == "regression" else (found == true).mean())

    assert score(head) > 0.7
    assert score(noise) < 0.7


def test_rows_without_a_value_are_left_out(rng) -> None:
    vectors = rng.standard_normal((200, 3))
    values = vectors[:, 0].copy()
    values[::7] = np.nan
    assert r2_of("ridge", vectors, values, 150) > 0.99
    with pytest.raises(ValueError, match="head='forest'; for regression expected one of svm"):
        build_head("forest")
