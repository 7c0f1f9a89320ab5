"""Graphs by name, and graphs that suit a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from grale.data.molecules.library import SCAFFOLDS, SUBSTITUENTS, library_graphs
from grale.data.samples import named_graph, sample_graphs, usual_data
from grale.data.sources import stream_held_out
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import canonical_key, from_smiles, molecule_space
from grale.graphs.space import GraphSpace

COLOURS = GraphSpace(max_nodes=10, num_node_labels=4)


def test_a_held_out_graph_is_named_by_its_number() -> None:
    assert (
        named_graph("coloring10:2", COLOURS) == list(stream_held_out("coloring10", 3, "valid"))[2]
    )


def test_a_molecule_is_named_by_its_smiles() -> None:
    assert named_graph("CCO", molecule_space(9)) == Graph.from_smiles("CCO")


def test_a_graph_comes_from_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text('{"node_labels": [0, 1], "edges": [[0, 1]]}')
    assert named_graph(str(path), COLOURS) == Graph([0, 1], [(0, 1)])
    path.write_text('{"nodes": [0, 1]}')
    with pytest.raises(ValueError, match="must be an object with node_labels"):
        named_graph(str(path), COLOURS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[" * 100_000, "levels deep"),
        ('{"node_labels": [' + "0, " * 2_000_000 + "0]}", "has more than 5000000 bytes"),
        ('{"node_labels": [0, [1]]}', "inhomogeneous"),
        ('{"node_labels": [0, 1], "edges": [[0, 9]]}', "names a missing node"),
        ('{"node_labels": [0, 1], "directed": "no"}', "directed must be true or false, got 'no'"),
    ],
    ids=["empty", "open", "deep", "huge", "ragged", "missing", "directed"],
)
def test_a_bad_json_file_is_one_sentence_that_names_it(tmp_path: Path, text, reason) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"graph\.json.*{reason}") as caught:
        named_graph(str(path), COLOURS)
    assert len(str(caught.value).splitlines()) == 1


def test_a_name_without_meaning_says_what_would_have_one() -> None:
    with pytest.raises(ValueError, match="coloring10:3"):
        named_graph("CCO", COLOURS)


@pytest.mark.slow
def test_the_library_holds_distinct_molecules_of_the_asked_size() -> None:
    graphs = library_graphs(300, max_atoms=12)
    assert len({canonical_key(graph) for graph in graphs}) == 300
    assert max(graph.num_nodes for graph in graphs) <= 12
    assert library_graphs(10, max_atoms=12) == graphs[:10]


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_every_scaffold_takes_every_substituent(scaffold: str) -> None:
    for substituent in SUBSTITUENTS:
        assert from_smiles(scaffold.format(substituent, "C")).num_nodes > 3
        assert from_smiles(scaffold.format("C", substituent)).num_nodes > 3


def test_usual_data_suits_the_space() -> None:
    assert usual_data(COLOURS) == "coloring10"
    assert usual_data(molecule_space(16)) == "library"
    assert all(COLOURS.why_not(g) is None for g in sample_graphs(COLOURS, 5, None, "test"))
    with pytest.raises(ValueError, match="give --data"):
        usual_data(GraphSpace(max_nodes=7, num_node_labels=3))
    with pytest.raises(ValueError, match="graph 0 of coloring20"):
        sample_graphs(GraphSpace(max_nodes=3, num_node_labels=4), 2, "coloring20", "test")


def test_a_generator_tests_on_other_graphs_than_it_validates_on() -> None:
    valid, test = (list(stream_held_out("coloring10", 20, split)) for split in ("valid", "test"))
    assert not any(graph in valid for graph in test)
    with pytest.raises(ValueError, match="has the splits valid, test, train"):
        list(stream_held_out("coloring10", 3, "tests"))
