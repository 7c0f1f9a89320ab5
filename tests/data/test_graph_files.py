"""Graphs in files of JSON: one row each, with what stands beside them."""

from __future__ import annotations

import json

import pytest

from grale.data.graph_files import open_graphs, parse_graph, text_of
from grale.data.row_files import named_row, open_rows
from grale.data.storage import write_shards
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space

PATH = {"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]], "edge_labels": [1, 1]}


def rows_of(path):
    opened = open_graphs(path)
    survey = opened.survey()
    (chunk,) = opened.rows(100, survey.columns)
    others = {name: values.to_pylist() for name, values in chunk.others.items()}
    assert survey.num_rows == len(chunk.entries)
    return [parse_graph(entry) for entry in chunk.entries], others


def test_lines_are_graphs_and_broken_lines_are_reasons(tmp_path) -> None:
    lines = [json.dumps(PATH | {"id": "a", "y": 1}), "{", "[1]", '{"edges": []}', "",
             json.dumps(PATH | {"edges": [[0, 9]], "y": 2.5})]  # fmt: skip
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n")
    items, others = rows_of(tmp_path / "x.jsonl")
    assert items[0] == Graph([0, 1, 2], [(0, 1), (1, 2)])
    assert [isinstance(item, str) for item in items] == [False, True, True, True, True, True]
    assert "must be an object with node_labels" in items[3]
    assert others == {"id": ["a"] + [None] * 5, "y": [1.0, None, None, None, None, 2.5]}


def test_a_folder_of_json_files_names_its_graphs(tmp_path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(PATH))
    (tmp_path / "notes.txt").write_text("mine")
    items, others = rows_of(tmp_path)
    assert items == [Graph([0, 1, 2], [(0, 1), (1, 2)])] * 2
    assert others == {"name": ["a", "b"]}


def test_a_list_of_graphs_and_shards_are_read(tmp_path, coloring_graphs, space) -> None:
    texts = [json.loads(text_of(graph)) for graph in coloring_graphs]
    (tmp_path / "x.json").write_text(json.dumps(texts))
    assert rows_of(tmp_path / "x.json")[0] == coloring_graphs
    write_shards(tmp_path / "data", coloring_graphs, space, shard_rows=8)
    assert rows_of(tmp_path / "data")[0] == coloring_graphs
    directed = Graph([0, 1], [(1, 0)], directed=True)
    assert parse_graph(text_of(directed)) == directed


def test_files_of_another_kind_say_what_is_expected(tmp_path, space) -> None:
    (tmp_path / "x.csv").write_text("smiles\nC\n")
    with pytest.raises(ValueError, match="no column is called 'graph'"):
        open_rows(tmp_path / "x.csv", space)
    (tmp_path / "x.smi").write_text("C\n")
    with pytest.raises(ValueError, match="was not trained on molecules"):
        open_rows(tmp_path / "x.smi", space)
    with pytest.raises(FileNotFoundError, match="is not a file or a folder"):
        open_rows(tmp_path / "none.jsonl", space)


def test_a_row_of_a_file_is_named_by_its_number(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("smiles\nC\nCCO\nxyz\n")
    space = molecule_space(9)
    assert named_row(f"{tmp_path}/x.csv:1", space) == Graph.from_smiles("CCO")
    with pytest.raises(ValueError, match=r"row 2 of .*x\.csv \('xyz'\): cannot parse"):
        named_row(f"{tmp_path}/x.csv:2", space)
    with pytest.raises(ValueError, match="has no row 9; its 3 rows count from 0"):
        named_row(f"{tmp_path}/x.csv:9", space)
