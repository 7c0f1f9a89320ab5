from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from matplotlib.colors import same_color

from grale.graphs.graph import Graph
from grale.plot.curves import curve_figure
from grale.plot.figures import (
    EXACT_COLOUR,
    INEXACT_COLOUR,
    interpolation_figure,
    reconstruction_figure,
    save_figure,
)
from grale.plot.graph_look import GraphLook
from grale.plot.palette import palette_for

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def curves():
    return curve_figure(range(5), {"train": [1, 2, 3, 4, 5], "test": np.arange(5)}, "step", "loss")


def centres(axes) -> np.ndarray:
    (discs,) = [item for item in axes.collections if isinstance(item, PatchCollection)]
    return np.array([path.get_extents().get_points().mean(axis=0) for path in discs.get_paths()])


@pytest.mark.slow
def test_a_reconstruction_figure_has_two_axes_per_pair(cell_graph):
    graphs = [cell_graph(6, seed) for seed in range(3)]
    assert len(reconstruction_figure(graphs, graphs).axes) == 6


@pytest.mark.slow
def test_matched_nodes_are_drawn_at_the_same_place(cell_graph, without_edge):
    graph = cell_graph(9)
    order = np.random.default_rng(0).permutation(9)
    mapping = np.argsort(order)
    figure = reconstruction_figure([graph], [without_edge(graph, 0).permuted(order)], [mapping])
    above, below = (centres(axes) for axes in figure.axes)
    np.testing.assert_allclose(above, below[mapping], atol=1e-9)
    assert np.abs(above - below).max() > 0.1
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


@pytest.mark.slow
def test_unmatched_nodes_of_either_side_are_drawn(cell_graph):
    graph = cell_graph(7)
    other = Graph([*graph.node_labels.tolist(), 0], [*graph.edges.tolist(), [7, 3]])
    figure = reconstruction_figure([graph], [other], [[-1, *range(1, 7)]])
    above, below = (centres(axes) for axes in figure.axes)
    assert (len(above), len(below)) == (7, 8)
    np.testing.assert_allclose(above[1:], below[1:7], atol=1e-9)


def test_captions_break_where_they_say_so(cell_graph):
    figure = interpolation_figure([cell_graph(5)], captions=["size 5,\npredicted 5.2"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["size 5,\npredicted 5.2"]


@pytest.mark.slow
def test_captions_tell_exact_from_inexact(cell_graph):
    graphs = [cell_graph(5)] * 2
    figure = reconstruction_figure(graphs, graphs, captions=["a", "b"], exact=[True, False])
    right, wrong = (axes.texts[-1] for axes in figure.axes[2:])
    assert (right.get_text(), wrong.get_text()) == ("✓ a", "✗ b")
    assert same_color(right.get_color(), EXACT_COLOUR)
    assert same_color(wrong.get_color(), INEXACT_COLOUR)


@pytest.mark.slow
def test_nothing_drawn_reaches_beyond_the_figure(cell_graph):
    graphs = [cell_graph(size) for size in (5, 12)]
    captions = ["a caption long enough to need a second line"] * 2
    figure = reconstruction_figure(graphs, graphs, captions=captions, exact=[True, False])
    figure.canvas.draw()
    for text in [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]:
        extent = text.get_window_extent()
        assert figure.bbox.x0 <= extent.x0
        assert extent.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= extent.y0


@pytest.mark.slow
def test_an_interpolation_figure_has_one_axes_per_graph(cell_graph):
    graphs = [cell_graph(6, seed) for seed in range(4)]
    mappings = [np.arange(6)] * 3
    assert len(interpolation_figure(graphs).axes) == 4
    figure = interpolation_figure(graphs, mappings, captions=["0", "1/3", "2/3", "1"])
    assert [axes.texts[-1].get_text() for axes in figure.axes] == ["0", "1/3", "2/3", "1"]


def test_a_curve_figure_has_one_line_per_curve(curves):
    (axes,) = curves.axes
    assert [line.get_label() for line in axes.lines] == ["train", "test"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "loss")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["train", "test"]


def test_a_band_is_shaded_around_its_curve():
    bands = {"b": ([0, 1], [2, 3])}
    figure = curve_figure([0, 1], {"a": [1, 2], "b": [1, 2]}, "x", "y", bands)
    (axes,) = figure.axes
    (shade,) = axes.collections
    assert shade.get_paths()[0].get_extents().bounds == (0, 0, 1, 3)
    assert same_color(shade.get_facecolor()[0][:3], axes.lines[1].get_color())


@pytest.mark.slow
def test_texts_are_written_on_the_nodes_of_every_graph():
    graphs = [Graph([0, 2], [(0, 1)]), Graph([1])]
    numbered = GraphLook(palette_for(3), lambda graph: map(str, graph.node_labels))
    figure = interpolation_figure(graphs, look=numbered)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert [text for text in texts if text] == ["0", "2", "1"]
    crossed = GraphLook(palette_for(3), lambda graph: ["x"] * graph.num_nodes)
    figure = reconstruction_figure(graphs, graphs, look=crossed)
    assert sum(text.get_text() == "x" for axes in figure.axes for text in axes.texts) == 6


@pytest.mark.slow
def test_a_saved_png_is_a_png_and_repeats_byte_for_byte(tmp_path, curves):
    path = save_figure(curves, tmp_path / "new" / "folder" / "curves.png")
    first = path.read_bytes()
    assert first.startswith(PNG_SIGNATURE)
    assert save_figure(curves, path).read_bytes() == first
    assert [file.name for file in path.parent.iterdir()] == ["curves.png"]


def test_a_saved_svg_is_valid_xml(tmp_path, cell_graph):
    path = save_figure(interpolation_figure([cell_graph(5)]), tmp_path / "strip.SVG")
    assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert [file.name for file in tmp_path.iterdir()] == ["strip.SVG"]


@pytest.mark.slow
def test_a_failed_save_leaves_no_temporary_file(tmp_path, curves):
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(OSError, match=r"taken\.png"):
        save_figure(curves, tmp_path / "taken.png")
    assert [file.name for file in tmp_path.iterdir()] == ["taken.png"]


def test_an_unknown_suffix_is_refused(tmp_path, curves):
    with pytest.raises(ValueError, match=r"'figure\.bmp'; expected a suffix in"):
        save_figure(curves, tmp_path / "figure.bmp")


def test_wrong_lengths_are_refused(cell_graph):
    graph = cell_graph(5)
    with pytest.raises(ValueError, match="originals is empty"):
        reconstruction_figure([], [])
    with pytest.raises(ValueError, match="reconstructions has 2 entries, but originals has 1"):
        reconstruction_figure([graph], [graph] * 2)
    with pytest.raises(ValueError, match=r"mappings\[0\] must hold one integer for each of 5"):
        reconstruction_figure([graph], [graph], mappings=[[0]])
    with pytest.raises(ValueError, match="captions has 2 entries, but graphs has 1"):
        interpolation_figure([graph], captions=["a", "b"])
    with pytest.raises(ValueError, match="curves is empty"):
        curve_figure([1], {}, "x", "y")
    with pytest.raises(ValueError, match=r"curve 'a' has shape \(2,\), but x has \(1,\)"):
        curve_figure([1], {"a": [1, 2]}, "x", "y")
