"""Matched nodes share a colour; nodes without a partner are grey."""

from __future__ import annotations

import pytest
from matplotlib.collections import PatchCollection

from grale.graphs.graph import Graph
from grale.plot.matching import UNMATCHED, matching_colours, matching_figure


def test_partners_share_their_colour_and_number() -> None:
    g1, g2 = Graph([0, 1, 2], [(0, 1), (1, 2)]), Graph([2, 2, 0, 1], [(0, 1)])
    figure = matching_figure(g1, g2, [3, -1, 0])
    sides = []
    for axes in figure.axes:
        (discs,) = [item for item in axes.collections if isinstance(item, PatchCollection)]
        sides.append([tuple(colour[:3]) for colour in discs.get_facecolor()])
    left, right = sides
    assert left[0] == right[3]
    assert left[2] == right[0]
    assert left[1] == right[1] == right[2] == pytest.approx(UNMATCHED)
    assert [text.get_text() for text in figure.axes[1].texts] == ["2", "", "", "0"]


def test_colours_of_thirty_nodes_differ() -> None:
    assert len(set(matching_colours(30))) == 30


def test_a_mapping_that_hits_a_node_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="more than once"):
        matching_figure(Graph([0, 0]), Graph([0, 0]), [1, 1])
