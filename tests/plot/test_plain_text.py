"""Names of users in figures: no dollar makes mathematics, no underscore hides a name."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from grale.graphs.graph import Graph
from grale.plot.curves import curve_figure
from grale.plot.figures import interpolation_figure, reconstruction_figure, rendered
from grale.plot.gallery import GalleryRow, gallery_figure
from grale.plot.graph_look import GraphLook
from grale.plot.maps import map_figure
from grale.plot.palette import shared_palette
from grale.plot.probing import parity_figure, roc_figure

pytestmark = pytest.mark.slow

NAMES = ["$a$", "a$b", "_x", r"$\no{$"]  # matplotlib cannot draw the last one as mathematics
POINTS = np.array([[0.0, 0], [1, 2], [3, 1], [2, 2]])
GRAPH = Graph([0, 1], [(0, 1)])
SCORES = {name: [0.1 * place, 0.3] for place, name in enumerate(NAMES)}
CLASSES = np.array([0, 1, 0, 1])


def names_in(figure: Figure) -> list[str]:
    """Texts of a figure that are one of the names, after it was drawn; none is mathematics."""
    rendered(figure, "svg")
    found = [text for text in figure.findobj(Text) if text.get_text() in NAMES]
    assert not any(text.get_parse_math() for text in found)
    return [text.get_text() for text in found]


def test_a_map_shows_names_of_classes_columns_and_axes_as_they_are() -> None:
    figure = map_figure(POINTS, NAMES, "$c$ _d", ("$a$", "_x"))
    legend = figure.axes[0].get_legend()
    assert sorted(text.get_text() for text in legend.get_texts()) == sorted(NAMES)
    assert legend.get_title().get_text() == "$c$ _d"
    assert not legend.get_title().get_parse_math()
    assert sorted(names_in(figure)) == sorted([*NAMES, "$a$", "_x"])


@pytest.mark.parametrize("name", NAMES)
def test_the_bar_of_a_map_shows_the_name_of_a_column_as_it_is(name: str) -> None:
    assert names_in(map_figure(POINTS, [0.5, 1, 2, 3], name, ("x", "y"))) == [name]


def test_a_probe_shows_names_of_contenders_as_they_are() -> None:
    numbers = np.arange(4.0)
    assert set(names_in(parity_figure(SCORES, "MAE", "a", numbers, numbers))) == set(NAMES)
    figure = roc_figure(SCORES, "$a$", CLASSES, dict.fromkeys(NAMES, numbers))
    assert set(names_in(figure)) == set(NAMES)
    legend = figure.axes[1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == NAMES
    assert not figure.axes[0].xaxis.label.get_parse_math()


@pytest.mark.parametrize("name", NAMES)
def test_the_title_of_a_probe_is_plain(name: str) -> None:
    figure = parity_figure(SCORES, name, name, np.arange(4.0), np.arange(4.0))
    rendered(figure, "svg")
    assert figure.axes[1].get_title() == f"{name}, rows not learned from"


def test_curves_show_their_names_as_they_are() -> None:
    figure = curve_figure([1, 2], {name: [1, 2] for name in NAMES}, "$a$", "_x")
    assert sorted(names_in(figure)) == sorted([*NAMES, "$a$", "_x"])


def test_captions_are_shown_as_they_are() -> None:
    graphs, look = [GRAPH] * len(NAMES), GraphLook(shared_palette([GRAPH]))
    for figure in (
        interpolation_figure(graphs, captions=NAMES),
        reconstruction_figure(graphs, graphs, captions=NAMES),
    ):
        assert names_in(figure) == NAMES
    rows = [GalleryRow(name, [GRAPH], [name]) for name in NAMES]
    assert sorted(names_in(gallery_figure(rows, look))) == sorted(NAMES * 2)


def test_matplotlib_itself_would_read_such_names_as_mathematics() -> None:
    figure = Figure()
    figure.text(0, 0, NAMES[-1])
    with pytest.raises(ValueError, match="no"):
        rendered(figure, "svg")
