"""Maps and pages: one dot per graph, nothing linked, nothing that could end the script early."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.space import GraphSpace
from grale.plot.look import ATOM_PALETTE, atom_texts, look_of, molecule_layout
from grale.plot.map_page import write_map_page
from grale.plot.maps import map_figure

POINTS = np.array([[0.0, 0], [1, 2], [3, 1]])
GRAPHS = [Graph.from_smiles(text) for text in ("CCO", "c1ccccc1", "C#N")]


def test_the_map_has_a_dot_per_graph_and_grey_ones_without_value() -> None:
    figure = map_figure(POINTS, [1.0, np.nan, 3.0], "size", ("x", "y"))
    axes = figure.axes[0]
    unknown, known = axes.collections
    assert (len(unknown.get_offsets()), len(known.get_offsets())) == (1, 2)
    assert figure.axes[1].get_ylabel() == "size"
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (POINTS, [1.0], "one value each"),
        (POINTS[:, :1], [1.0, 2, 3], "one value each"),
        (POINTS, [np.nan] * 3, "no graph has a value"),
    ],
)
def test_a_map_that_cannot_be_drawn_says_why(points, values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        map_figure(points, values, "size", ("x", "y"))


def test_the_page_holds_every_graph_and_links_to_nothing(tmp_path) -> None:
    names = ["ethanol </script><b>", "benzene", "x"]
    path = write_map_page(
        tmp_path / "map.html", "A & B", POINTS, [1, 2, np.nan], "size", GRAPHS, names=names,
        palette=ATOM_PALETTE, node_texts=atom_texts, place=molecule_layout,
    )  # fmt: skip
    text = path.read_text()
    assert text.count("</script>") == 1
    assert "A &amp; B" in text
    assert not re.search(r"(src|href)=", text)
    data = json.loads(re.search(r"const data = (.*);\n", text)[1])
    assert data["names"] == names
    assert [len(graph[0]) for graph in data["graphs"]] == [3, 6, 2]
    assert data["graphs"][0][3] == ["", "", "O"]
    assert data["graphs"][2][2] == [[0, 1, 3]]
    assert data["values"][0] == "size: 1"
    with pytest.raises(ValueError, match="points need . graphs and names"):
        write_map_page(tmp_path / "x.html", "t", POINTS, [1, 2, 3], "size", GRAPHS[:2])


def test_molecules_look_like_molecules_and_other_graphs_do_not() -> None:
    look = look_of(molecule_space(8))
    assert look.node_texts is atom_texts
    assert len(look.palette) == 32
    assert look_of(GraphSpace(max_nodes=5, num_node_labels=4)).node_texts is None
    ring = molecule_layout(Graph.from_smiles("C1CCCCC1"))
    sides = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1)
    assert sides.std() < 0.02 * sides.mean()
    impossible = Graph([0, 0], [(0, 1)], [4])
    assert molecule_layout(impossible).shape == (2, 2)
