"""Bad input gets one sentence that names file, graph and node; nothing is executed or written."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import networkx
import pytest
import torch

from data.own.own_graphs import labelled_graphs, read
from grale.data.own.graph_set import read_set
from grale.data.own.prepare import prepare


def json_line(tmp_path: Path, **values: Any) -> Path:
    good = {"node_labels": ["a", "b"], "edges": [[0, 1]]}
    path = tmp_path / "g.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps({**good, **values}) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"edges": [[0, 0]]}, r"line 2: node '0' has a self-loop"),
        ({"edges": [[0, 5]]}, r"line 2: edge 0 \(0, 5\) names a missing node"),
        ({"node_labels": ["a", None]}, r"line 2: node '1' has no attribute 'label'"),
        ({"node_labels": ["a", 1]}, r"line 2: node '1' has .*integer.*same way"),
        ({"node_ids": ["u", "u"]}, r"line 2: node 'u' is listed twice"),
        ({"node_labels": [], "num_nodes": 0, "edges": []}, r"line 2: the graph has no nodes"),
        ({"directed": True}, r"line 1 is undirected, but .*line 2 is directed"),
        ({"node_labels": ["a"]}, r"names a missing node"),
        ({"edges": [["x", 1]]}, r"line 2: edge 0 must be a pair of node numbers"),
        ({"edge_labels": ["x", "y"]}, r"line 2: 2 edge label entries for 1 edges"),
    ],
)
def test_a_bad_graph_is_named_with_line_and_node(
    tmp_path: Path, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read(json_line(tmp_path, **values))
    assert "g.jsonl" in str(caught.value)
    read(json_line(tmp_path))  # the control


def test_labels_that_look_like_integers_are_text_if_all_are() -> None:
    graph = networkx.path_graph(2)
    graph.nodes[0]["k"], graph.nodes[1]["k"] = "1", "2"
    assert read_set([graph]).graphs[0].node_values() == [{"k": "1"}, {"k": "2"}]
    graph.nodes[1]["k"] = 2
    with pytest.raises(ValueError, match=r"node '0' has k='1' \(text\), but .* \(integer\)"):
        read_set([graph])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_feature_that_is_not_finite_names_its_node(value: float) -> None:
    graph = networkx.path_graph(["u", "v"])
    graph.nodes["u"]["x"], graph.nodes["v"]["x"] = 0.5, value
    with pytest.raises(ValueError, match="graph 0: node 'v' has x=.*not finite"):
        read_set([graph])


def test_an_attribute_on_some_edges_only_names_the_edge() -> None:
    graph = networkx.path_graph(["u", "v", "w"])
    graph.edges["u", "v"]["k"] = "x"
    with pytest.raises(ValueError, match="edge 'v' - 'w' has no attribute 'k'.*--edge-attribute"):
        read_set([graph])


def test_parallel_edges_are_kept_once_if_they_agree() -> None:
    graph = networkx.MultiGraph([(0, 1, {"k": "x"}), (0, 1, {"k": "x"}), (1, 2, {"k": "y"})])
    assert read_set([graph]).graphs[0].num_edges == 2
    graph.add_edge(1, 0, k="y")
    with pytest.raises(ValueError, match="edge .* is listed twice with different attributes"):
        read_set([graph])


def test_isolated_nodes_and_graphs_without_edges_are_fine() -> None:
    graph = networkx.empty_graph(3)
    graph.add_edge(0, 1)
    found = read_set([graph, networkx.empty_graph(2)])
    assert [g.num_edges for g in found.graphs] == [1, 0]


def test_too_many_values_name_the_attribute() -> None:
    graph = networkx.path_graph(1200)
    networkx.set_node_attributes(graph, {n: f"id{n}" for n in graph}, "name")
    networkx.set_node_attributes(graph, "a", "kind")
    with pytest.raises(ValueError, match="'name' alone has 1200 values"):
        read_set([graph], max_nodes=2000)


def test_a_graph_beyond_the_largest_size_is_left_out_with_its_reason(tmp_path: Path) -> None:
    graphs = [*labelled_graphs(5), networkx.path_graph(40)]
    networkx.set_node_attributes(graphs[-1], "C", "element")
    networkx.set_edge_attributes(graphs[-1], "single", "bond")
    done = prepare(graphs, tmp_path / "out", max_nodes=10)
    assert done.rejected == 1
    entry = json.loads((tmp_path / "out" / "rejected.jsonl").read_text())
    assert entry == {"where": "graph 5", "reason": "has 40 nodes, more than 10"}


BOMB = """<?xml version="1.0"?>
<!DOCTYPE graphml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<graphml><graph edgedefault="undirected"><node id="&b;"/></graph></graphml>"""


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_an_entity_bomb_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb.{suffix}"
    path.write_text(BOMB)
    with pytest.raises(ValueError, match=r"bomb\..* declares the entity 'a'"):
        read(path)


def test_duplicate_nodes_and_missing_ends_of_graphml_are_named(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    frame = '<graphml><graph edgedefault="undirected">{}</graph></graphml>'
    path.write_text(frame.format('<node id="u"/><node id="u"/>'))
    with pytest.raises(ValueError, match="graph 0: node 'u' is listed twice"):
        read(path)
    path.write_text(frame.format('<node id="u"/><edge source="u" target="w"/>'))
    with pytest.raises(ValueError, match="edge 'u' - 'w' names the missing node 'w'"):
        read(path)
    path.write_text("<graphml>")
    with pytest.raises(ValueError, match="is not XML"):
        read(path)


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("sprung"),)


def test_no_pickle_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.gpickle").write_bytes(pickle.dumps(_Trap()))
    torch.save(({"x": _Trap()}, {"x": torch.tensor([0, 1])}), tmp_path / "data.pt")
    with pytest.raises(ValueError, match="is a pickle"):
        read(tmp_path / "g.gpickle")
    with pytest.raises(ValueError, match=r"refused .*grale\.prepare"):
        read(tmp_path / "data.pt")
    assert not (tmp_path / "sprung").exists()
    pickle.loads(pickle.dumps(_Trap()))  # the control: it would have worked
    assert (tmp_path / "sprung").exists()


def test_a_refused_set_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="self-loop"):
        prepare(json_line(tmp_path, edges=[[0, 0]]), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.jsonl"]


def test_a_folder_that_holds_something_else_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="is not empty"):
        prepare(labelled_graphs(5), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
