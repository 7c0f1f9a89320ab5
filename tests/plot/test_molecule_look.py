"""Molecules are drawn by RDKit; the common core stays in place, what changed is marked."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import OTHER, molecule_space
from grale.graphs.space import GraphSpace
from grale.plot.changes import CHANGED, GONE, NEW
from grale.plot.depiction import depicted
from grale.plot.figures import interpolation_figure, reconstruction_figure, save_figure
from grale.plot.gallery import GalleryRow, gallery_figure
from grale.plot.graph_look import GraphLook
from grale.plot.look import look_of
from grale.plot.matching import matching_figure
from grale.plot.molecule_look import INVALID, MoleculeLook
from grale.plot.molecule_places import BOND, molecule_places, places_along

PHENOL, ANILINE = Graph.from_smiles("Oc1ccccc1"), Graph.from_smiles("Nc1ccccc1")
TOLUIDINE = Graph.from_smiles("Nc1ccccc1C")
LOOK = MoleculeLook()


def colours(axes) -> set[str]:
    return {to_hex(patch.get_facecolor()) for patch in axes.patches if patch.get_fill()}


def test_molecules_look_like_molecules_and_other_graphs_do_not() -> None:
    assert isinstance(look_of(molecule_space(8)), MoleculeLook)
    assert isinstance(look_of(GraphSpace(max_nodes=5, num_node_labels=4)), GraphLook)


def test_bonds_of_a_ring_have_one_length() -> None:
    ring = molecule_places(Graph.from_smiles("C1CCCCC1"))
    sides = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, BOND, atol=0.05)


def test_the_common_core_keeps_its_place_along_a_row() -> None:
    order = np.random.default_rng(0).permutation(7)  # node k of the moved one is node order[k]
    place = np.argsort(order)
    row = [PHENOL, ANILINE.permuted(order), TOLUIDINE]
    frames = places_along(row, [order, [*place, -1]])
    alone = molecule_places(TOLUIDINE)[:7]
    kept, kept_again, moved = (
        np.linalg.norm(frame - frames[0], axis=1).max()
        for frame in (frames[1][place], frames[2][:7], alone)
    )
    assert max(kept, kept_again) < 0.05
    assert moved > 0.3  # alone, it is elsewhere


def test_what_is_new_along_a_row_is_highlighted() -> None:
    figure = interpolation_figure(
        [PHENOL, ANILINE, TOLUIDINE], [range(7), [*range(7), -1]], look=LOOK
    )
    first, second, third = (colours(axes) for axes in figure.axes)
    assert not first & {CHANGED, NEW, GONE}
    assert second & {CHANGED, NEW, GONE} == {CHANGED}
    assert third & {CHANGED, NEW, GONE} == {NEW}


@pytest.mark.slow
def test_a_row_of_a_gallery_marks_what_is_new_if_its_graphs_are_matched() -> None:
    row = GalleryRow("", [PHENOL, ANILINE, TOLUIDINE], [""] * 3)
    along = row._replace(mappings=[range(7), [*range(7), -1]])
    from_first = along._replace(from_first=True)
    marks = {CHANGED, NEW, GONE}
    for one, expected in (
        (row, [set(), set(), set()]),
        (along, [set(), {CHANGED}, {NEW}]),
        (from_first, [set(), {CHANGED}, {CHANGED, NEW}]),
    ):
        figure = gallery_figure([one], LOOK)
        assert [colours(axes) & marks for axes in figure.axes] == expected


@pytest.mark.parametrize("from_first", [False, True])
def test_what_a_row_of_a_gallery_shares_keeps_its_place(from_first: bool) -> None:
    longer = Graph.from_smiles("Nc1ccccc1CCCC")
    graphs = [PHENOL, ANILINE, longer]
    mappings = [range(7), [*range(7), *[-1] * 4]]
    row = GalleryRow("", graphs, [""] * 3, mappings, from_first)
    first, *others = (panel.places for panel in row.panels(LOOK))
    for places in others:
        assert np.linalg.norm(places[:7] - first, axis=1).max() < 0.05
    *_, alone = (panel.places for panel in row._replace(mappings=None).panels(LOOK))
    assert np.linalg.norm(alone[:7] - first, axis=1).max() > 0.3  # unrelated, it is elsewhere


@pytest.mark.slow
def test_differences_of_a_reconstruction_are_highlighted_on_both_sides() -> None:
    figure = reconstruction_figure([TOLUIDINE], [PHENOL], [[*range(7), -1]], look=LOOK)
    above, below = (colours(axes) & {CHANGED, NEW, GONE} for axes in figure.axes)
    assert (above, below) == ({CHANGED, GONE}, {CHANGED})
    same = reconstruction_figure([PHENOL], [PHENOL], [range(7)], look=LOOK)
    assert not any(colours(axes) & {CHANGED, NEW, GONE} for axes in same.axes)


@pytest.mark.slow
def test_matched_molecules_say_what_is_missing_where() -> None:
    figure = matching_figure(TOLUIDINE, Graph.from_smiles("Nc1ccccc1"), [*range(7), -1], LOOK)
    left, right = (colours(axes) & {CHANGED, NEW, GONE} for axes in figure.axes)
    assert (left, right) == ({GONE}, set())
    figure = matching_figure(ANILINE, TOLUIDINE, range(7), LOOK)
    assert colours(figure.axes[1]) & {CHANGED, NEW, GONE} == {NEW}


@pytest.mark.parametrize(
    "graph",
    [
        Graph([0] * 6, [(0, k) for k in range(1, 6)], [1] * 5),  # five bonds
        Graph([0, 0], [(0, 1)], [4]),  # aromatic, but not a ring
        Graph([0, OTHER], [(0, 1)], [1]),  # no symbol
        Graph([0, 0], [(0, 1)], [1], directed=True),
    ],
)
def test_a_graph_that_is_not_a_molecule_is_drawn_as_a_graph_and_says_so(graph: Graph) -> None:
    figure = interpolation_figure([graph, PHENOL], look=LOOK)
    wrong, right = figure.axes
    assert INVALID in [text.get_text() for text in wrong.texts]
    assert INVALID not in [text.get_text() for text in right.texts]
    discs = [item for item in wrong.collections if isinstance(item, PatchCollection)]
    assert len(discs[0].get_paths()) == graph.num_nodes


def test_a_molecule_with_metals_is_drawn() -> None:
    figure = interpolation_figure(
        [Graph.from_smiles("C[Hg]C"), Graph.from_smiles("[Na]Cl")], look=LOOK
    )
    assert all(axes.patches for axes in figure.axes)


def test_letters_and_outlines_are_at_their_atoms() -> None:
    places = molecule_places(PHENOL)
    molecule = PHENOL.to_mol()
    letters = [shape for shape in depicted(molecule, places, as_letters=True) if shape.letter]
    assert sorted(shape.letter for shape in letters) == ["H", "O"]
    for shape in letters:
        assert np.linalg.norm(shape.points[0] - places[0]) < 0.8
    drawn = np.concatenate([shape.points for shape in depicted(molecule, places)])
    assert (drawn.min(axis=0) > places.min(axis=0) - 1).all()
    assert (drawn.max(axis=0) < places.max(axis=0) + 1).all()


@pytest.mark.slow
def test_a_long_strip_has_several_rows_and_fits_a_file(tmp_path) -> None:
    figure = interpolation_figure([PHENOL] * 25, captions=["phenol"] * 25, look=LOOK)
    assert len(figure.axes) == 25
    width, height = figure.get_size_inches()
    assert width < 16
    assert height > 3
    path = save_figure(figure, tmp_path / "strip.svg")
    assert ElementTree.parse(path).getroot().tag.endswith("svg")
