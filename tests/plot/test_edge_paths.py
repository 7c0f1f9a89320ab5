"""Lines keep away from discs that they do not end at."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from grale.graphs.graph import Graph
from grale.plot.changes import both_ways, differing_edges
from grale.plot.draw import MARK_COLOUR, draw_graph
from grale.plot.edge_paths import CLEARANCE, edge_paths
from grale.plot.figures import reconstruction_figure

ROW = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
RADIUS = 0.15


def test_a_line_with_room_is_straight() -> None:
    (path,) = edge_paths(ROW, np.array([[0, 1]]), RADIUS)
    np.testing.assert_array_equal(path, ROW[:2])


@pytest.mark.parametrize("shift", [0.0, 0.02, -0.02, 0.17])
def test_a_line_behind_a_disc_is_bent_around_it(shift: float) -> None:
    points = ROW + [[0, 0], [0, shift], [0, 0]]
    (path,) = edge_paths(points, np.array([[0, 2]]), RADIUS)
    np.testing.assert_allclose(path[[0, -1]], points[[0, 2]], atol=1e-12)
    assert np.linalg.norm(path - points[1], axis=1).min() >= CLEARANCE * RADIUS


def test_an_arc_avoids_the_side_that_is_taken() -> None:
    points = np.concatenate([ROW, [[0.0, 0.25]]])
    (path,) = edge_paths(points, np.array([[0, 2]]), RADIUS)
    assert path[:, 1].min() < -RADIUS


def test_where_there_is_no_room_the_line_has_as_much_as_there_is() -> None:
    wall = np.stack([np.zeros(21), np.linspace(-1, 1, 21)], axis=1)
    points = np.concatenate([ROW[[0, 2]], wall])
    (path,) = edge_paths(points, np.array([[0, 1]]), RADIUS)
    assert np.isfinite(path).all()


def test_edges_that_differ_are_found_on_both_sides() -> None:
    square = Graph([0, 1, 2, 3], [(0, 1), (1, 2), (2, 3), (0, 3)])
    turned = Graph([1, 0, 3], [(0, 1), (1, 2)], [2, 1])  # nodes 1, 0 and 3; one bond is double
    forth, back = both_ways(square, turned, [1, 0, -1, 2])
    assert differing_edges(square, turned, forth) == [0, 2, 3]
    assert differing_edges(turned, square, back) == [0]
    assert differing_edges(square, square, np.arange(4)) == []


def test_edges_that_differ_are_red(cell_graph, without_edge) -> None:
    graph = cell_graph(8)
    figure = reconstruction_figure([graph], [without_edge(graph, 0)], [np.arange(8)])
    for axes, expected in zip(figure.axes, (1, 0)):
        lines = [item for item in axes.collections if isinstance(item, LineCollection)]
        red = [line for line in lines if same_color(line.get_colors()[0], MARK_COLOUR)]
        assert len(red) == expected


def test_marked_arrows_are_red() -> None:
    axes = Figure(figsize=(2, 2)).subplots()
    draw_graph(axes, Graph([0, 0, 0], [(0, 1), (1, 2)], directed=True), marked=[1])
    colours = [patch.get_edgecolor() for patch in axes.patches]
    assert [same_color(colour, MARK_COLOUR) for colour in colours] == [False, True]
