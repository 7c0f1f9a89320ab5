"""Scores add up over groups and carry intervals."""

from __future__ import annotations

import pytest

from grale.codec.options import CodecOptions
from grale.graphs.graph import Graph
from grale.metrics.intervals import Mean
from grale.metrics.isomorphism import isomorphism_accuracy
from grale.model.autoencoder import GRALE
from grale.training.evaluation import Outcomes, evaluate, reconstruct_all


@pytest.mark.slow
def test_outcomes_average_to_the_report(tiny_model: GRALE, coloring_graphs: list[Graph]) -> None:
    outcomes = reconstruct_all(tiny_model, coloring_graphs, CodecOptions(batch_size=5))
    report = evaluate(tiny_model, coloring_graphs)
    assert outcomes.report() == report
    assert report.accuracy == isomorphism_accuracy(coloring_graphs, outcomes.predictions)
    assert outcomes.mean_distance().value == pytest.approx(report.edit_distance)
    assert outcomes.exact().value == report.accuracy


def test_groups_hold_every_graph_once() -> None:
    graphs = [Graph([0] * size) for size in (3, 1, 2, 1)]
    outcomes = Outcomes(graphs, graphs, [0, 1, 0, 3])
    groups = outcomes.grouped([graph.num_nodes for graph in graphs])
    assert list(groups) == [1, 2, 3]
    assert groups[1].distances == [1, 3]
    assert groups[1].mean_distance().value == 2
    assert groups[3].exact().value == 1
    with pytest.raises(ValueError, match="give one each"):
        outcomes.grouped([1])


def test_a_second_try_is_for_what_did_not_come_back() -> None:
    graphs = [Graph([0] * size) for size in (1, 2, 3)]
    full = Outcomes(graphs, [graphs[0], Graph([1]), Graph([1])], [0, 5, 4])
    assert full.inexact() == graphs[1:]
    merged = full.with_second_try(Outcomes(graphs[1:], [Graph([2]), graphs[2]], [2, 0]))
    assert merged.distances == [0, 2, 0]
    assert merged.predictions == [graphs[0], Graph([2]), graphs[2]]


def test_validity_counts_molecules() -> None:
    good, bad = Graph.from_smiles("CCO"), Graph([0, 0], [(0, 1)], [4])
    assert Outcomes([good, good], [good, bad], [0, 5]).valid().value == 0.5


def test_a_mean_of_one_value_is_uncertain_and_of_none_an_error() -> None:
    assert Mean.of([2.0]).half_width == float("inf")
    with pytest.raises(ValueError, match="mean of nothing"):
        Mean.of([])
