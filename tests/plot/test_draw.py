from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from grale.data.coloring.palette import COLORING_PALETTE
from grale.graphs.graph import Graph
from grale.plot.draw import EdgeStyle, draw_graph, node_radius
from grale.plot.palette import palette_for

BONDS = Graph([0, 1, 2, 5, 0], [(0, 1), (1, 2), (2, 3), (3, 4)], [1, 2, 3, 4])


@pytest.fixture
def axes():
    return Figure(figsize=(2, 2)).subplots()


def discs(axes) -> PatchCollection:
    (found,) = [item for item in axes.collections if isinstance(item, PatchCollection)]
    return found


def num_lines(axes) -> int:
    lines = [item for item in axes.collections if isinstance(item, LineCollection)]
    return sum(len(item.get_segments()) for item in lines)


@pytest.mark.slow
@pytest.mark.parametrize("num_nodes", [5, 20])
def test_all_discs_are_inside_the_limits(axes, cell_graph, num_nodes):
    draw_graph(axes, cell_graph(num_nodes))
    corners = np.concatenate([path.vertices for path in discs(axes).get_paths()])
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert len(discs(axes).get_paths()) == num_nodes
    assert left < corners[:, 0].min()
    assert corners[:, 0].max() < right
    assert bottom < corners[:, 1].min()
    assert corners[:, 1].max() < top


def test_limits_follow_positions_outside_the_square(axes):
    draw_graph(axes, Graph([0, 0], []), positions=[[0.0, 0.0], [5.0, -3.0]])
    assert axes.get_xlim()[1] > 5 + node_radius(np.array([[0.0, 0.0], [5.0, -3.0]]))
    assert axes.get_ylim()[0] < -3


def test_discs_do_not_overlap_in_any_layout_with_room():
    points = np.array([[0.0, 0.0], [0.2, 0.0], [1.0, 1.0]])
    assert 2 * node_radius(points) < 0.2


def test_nodes_have_the_colour_of_their_label(axes):
    draw_graph(axes, Graph([3, 0, 2], [(0, 1)]))
    expected = [COLORING_PALETTE[label] for label in (3, 0, 2)]
    np.testing.assert_allclose(discs(axes).get_facecolor()[:, :3], expected)


def test_edge_labels_decide_the_number_of_lines(axes):
    draw_graph(axes, BONDS)
    assert num_lines(axes) == 1 + 2 + 3 + 1


def test_an_edge_palette_replaces_the_styles(axes):
    draw_graph(axes, BONDS, edge_palette={label: EdgeStyle() for label in range(1, 5)})
    assert num_lines(axes) == 4


def test_directed_edges_are_arrows(axes):
    draw_graph(axes, Graph([0, 1, 2], [(0, 1), (1, 0), (1, 2)], directed=True))
    assert sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches) == 3
    assert num_lines(axes) == 0


def test_texts_stand_on_their_nodes(axes):
    points = np.array([[-1.0, 0.0], [1.0, 0.0]])
    draw_graph(axes, Graph([0, 3], [(0, 1)]), points, node_text=["C", "Cl"])
    assert [text.get_text() for text in axes.texts] == ["C", "Cl"]
    assert [text.get_position() for text in axes.texts] == [(-1.0, 0.0), (1.0, 0.0)]
    assert [text.get_color() for text in axes.texts] == ["white", "black"]


@pytest.mark.parametrize("num_labels", [1, 4, 5, 12, 40])
def test_no_two_labels_share_a_colour(num_labels):
    assert len(set(palette_for(num_labels))) == num_labels


def test_wrong_positions_are_refused(axes):
    with pytest.raises(ValueError, match=r"shape \(5, 2\), got \(2, 2\)"):
        draw_graph(axes, BONDS, positions=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="finite"):
        draw_graph(axes, BONDS, positions=np.full((5, 2), np.nan))


def test_a_label_without_colour_is_refused(axes):
    with pytest.raises(ValueError, match="node label 5 has no colour: the palette has 2"):
        draw_graph(axes, BONDS, palette=["red", "blue"])


def test_a_wrong_number_of_texts_is_refused(axes):
    with pytest.raises(ValueError, match="5 nodes but 1 texts"):
        draw_graph(axes, BONDS, node_text=["C"])
