from __future__ import annotations

import networkx
import numpy as np
import pytest

from grale.graphs.graph import Graph
from grale.plot.planar import planar_layout
from grale.plot.stress import count_flaws, ideal_distances, majorise, spread, stress

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_ideal_distances_are_shortest_paths(cell_graph):
    graph = cell_graph(12)
    plain = networkx.Graph(graph.edges.tolist())
    expected = dict(networkx.all_pairs_shortest_path_length(plain))
    ideal = ideal_distances(graph)
    assert all(ideal[i, j] == expected[i][j] for i in range(12) for j in range(12))


def test_ideal_distances_ignore_direction():
    assert ideal_distances(Graph([0, 0, 0], [(1, 0), (1, 2)], directed=True))[0, 2] == 2


def test_components_are_kept_apart_but_finite():
    ideal = ideal_distances(Graph([0] * 5, [(0, 1), (1, 2), (3, 4)]))
    assert np.isfinite(ideal).all()
    assert ideal[0, 3] > 1


def test_a_sweep_never_raises_the_stress(cell_graph):
    ideal = ideal_distances(cell_graph(15))
    weight = 1 / (ideal + np.eye(15)) ** 2
    points = np.random.default_rng(0).normal(size=(15, 2))
    totals = []
    for _ in range(20):
        distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
        totals.append((weight * (distance - ideal) ** 2).sum())
        points = majorise(ideal, points, num_sweeps=1)
    assert (np.diff(totals) <= 1e-9).all()
    assert totals[-1] < 0.5 * totals[0]


def test_distances_that_fit_in_the_plane_are_reached():
    ideal = np.linalg.norm(SQUARE[:, None] - SQUARE[None], axis=-1)
    start = SQUARE + 0.3 * np.random.default_rng(1).normal(size=(4, 2))
    assert stress(ideal, start) > 1e-3
    assert stress(ideal, majorise(ideal, start)) < 1e-6


def test_a_strong_pull_holds_a_node_in_place(cell_graph):
    ideal = ideal_distances(cell_graph(8))
    anchor = np.random.default_rng(0).normal(size=(8, 2))
    pull = np.zeros(8)
    pull[2] = 1e4
    held = majorise(ideal, anchor, anchor, pull)
    assert np.abs(held[2] - anchor[2]).max() < 1e-2
    assert np.abs(held - anchor).max() > 0.1


def test_spread_separates_nodes_at_one_place():
    points = spread(Graph([0] * 5, []), np.zeros((5, 2)), gap=0.5)
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(5)
    assert distance.min() > 0.4


def test_spread_moves_a_node_off_an_edge_but_not_a_fixed_one():
    graph = Graph([0, 0, 0], [(0, 1)])
    points = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.01]])
    assert count_flaws(graph, points) == 2
    assert count_flaws(graph, spread(graph, points, gap=0.5)) == 0
    fixed = spread(graph, points, gap=0.5, is_fixed=np.ones(3, dtype=bool))
    np.testing.assert_array_equal(fixed, points)


def test_flaws_count_the_crossing_diagonals_of_a_square():
    diagonals = Graph([0] * 4, [(0, 2), (1, 3)])
    sides = Graph([0] * 4, [(0, 1), (2, 3)])
    assert count_flaws(diagonals, SQUARE) == 1
    assert count_flaws(sides, SQUARE) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_planar_layout_has_no_crossings(cell_graph, seed):
    graph = cell_graph(14, seed)
    points = planar_layout(graph, ideal_distances(graph))
    assert points is not None
    assert count_flaws(graph, points, clearance=0.0) == 0
    scattered = np.random.default_rng(seed).normal(size=(14, 2))
    assert count_flaws(graph, scattered, clearance=0.0) > 0


def test_planar_layout_refuses_a_graph_that_is_not_planar():
    complete = Graph([0] * 5, [(i, j) for i in range(5) for j in range(i)])
    assert planar_layout(complete, ideal_distances(complete)) is None
