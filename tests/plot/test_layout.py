from __future__ import annotations

import numpy as np
import pytest

from grale.graphs.graph import Graph
from grale.plot.layout import layout, layout_along, layout_around

CLEARLY_APART = 0.05  # two discs this far apart can be told from each other

COMPLETE = Graph([0] * 10, [(i, j) for i in range(10) for j in range(i)])
STAR = Graph([0] * 12, [(0, i) for i in range(1, 12)])
PATH = Graph(list(range(8)), [(i, i + 1) for i in range(7)])
DISCONNECTED = Graph([0] * 8, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)])
ISOLATED = Graph([0] * 9, [])
DIRECTED = Graph([0, 1, 2], [(0, 1), (1, 0), (2, 1)], directed=True)
SPECIAL = [COMPLETE, STAR, PATH, DISCONNECTED, ISOLATED, DIRECTED, Graph([0, 1], [(0, 1)])]


def least_distance(points: np.ndarray) -> float:
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return float((distance + 9 * np.eye(len(points))).min())


def assert_is_good(points: np.ndarray, num_nodes: int) -> None:
    assert points.shape == (num_nodes, 2)
    assert np.isfinite(points).all()
    assert np.abs(points).max() <= 1
    assert least_distance(points) > CLEARLY_APART


@pytest.mark.slow
@pytest.mark.parametrize("num_nodes", [5, 9, 20, 32])
def test_nodes_of_cell_graphs_are_apart_and_in_the_square(cell_graph, num_nodes):
    points = layout(cell_graph(num_nodes))
    assert_is_good(points, num_nodes)
    assert np.abs(points).max() == pytest.approx(1)


@pytest.mark.parametrize("graph", SPECIAL, ids=str)
def test_nodes_of_special_graphs_are_apart_and_in_the_square(graph):
    assert_is_good(layout(graph), graph.num_nodes)


def test_one_node_is_in_the_middle():
    np.testing.assert_array_equal(layout(Graph([3], [])), [[0.0, 0.0]])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_positions(cell_graph):
    graph = cell_graph(11)
    np.testing.assert_array_equal(layout(graph, seed=4), layout(graph, seed=4))


def test_a_path_is_drawn_from_side_to_side():
    points = layout(PATH)
    order = np.argsort(points[:, 0]).tolist()
    assert order in (list(range(8)), list(range(8))[::-1])
    assert np.ptp(points[:, 1]) < 0.2


@pytest.mark.slow
def test_a_start_decides_how_the_layout_is_turned(cell_graph):
    graph = cell_graph(10)
    upright = layout(graph)
    turned = upright @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    result = layout(graph, start=100 * turned)
    assert_is_good(result, 10)
    assert np.corrcoef(result.ravel(), turned.ravel())[0, 1] > 0.9
    assert np.corrcoef(upright.ravel(), turned.ravel())[0, 1] < 0.5


@pytest.mark.slow
def test_an_unchanged_node_keeps_its_place_along_a_sequence(cell_graph, without_edge):
    graph = cell_graph(12)
    order = np.random.default_rng(3).permutation(12)
    after = without_edge(graph, 5).permuted(order)
    first, second = layout_along([graph, after], [order])
    assert np.linalg.norm(second - first[order], axis=1).max() < 0.25
    alone = layout(after)
    assert np.linalg.norm(alone - layout(graph)[order], axis=1).max() > 0.25


@pytest.mark.slow
def test_new_nodes_are_placed_near_their_neighbours_along_a_sequence(cell_graph):
    graph = cell_graph(9)
    edges = [*graph.edges.tolist(), [0, 9]]
    grown = Graph([*graph.node_labels.tolist(), 1], edges)
    frames = layout_along([graph, grown, graph], [[*range(9), -1], np.arange(9)])
    for frame, size in zip(frames, (9, 10, 9)):
        assert_is_good(frame, size)
    to_neighbour = np.linalg.norm(frames[1][9] - frames[1][0])
    assert to_neighbour < np.median(np.linalg.norm(frames[1][9] - frames[1][:9], axis=1))


@pytest.mark.slow
def test_a_sequence_without_common_nodes_is_still_laid_out():
    frames = layout_along([PATH, STAR], [[-1] * 12])
    assert_is_good(frames[1], 12)


def test_an_empty_sequence_has_no_frames():
    assert layout_along([], []) == []


@pytest.mark.slow
def test_layout_around_leaves_known_nodes_where_they_are(cell_graph):
    graph = cell_graph(10)
    known = layout(graph)
    known[[2, 7]] = np.nan
    points = layout_around(graph, known)
    is_known = np.isfinite(known[:, 0])
    np.testing.assert_array_equal(points[is_known], known[is_known])
    assert np.isfinite(points).all()
    assert least_distance(points) > CLEARLY_APART


def test_a_start_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"shape \(8, 2\), got \(3, 2\)"):
        layout(PATH, start=np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ([0, 1], "one integer for each of 3 nodes"),
        ([0.0, 1.0, 2.0], "got shape .* of float64"),
        ([0, 1, 8], r"names node 8; expected -1 \(none\) or 0..7"),
        ([0, 1, -2], "names node -2"),
        ([0, 1, 1], "names node 1 more than once"),
    ],
)
def test_a_wrong_mapping_is_refused(mapping, message):
    with pytest.raises(ValueError, match=message):
        layout_along([PATH, DIRECTED], [mapping])


def test_a_missing_mapping_is_refused():
    with pytest.raises(ValueError, match="2 graphs need one mapping per step, got 0"):
        layout_along([PATH, STAR], [])
