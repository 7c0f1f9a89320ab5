"""Each format gives back the graphs that were written, with their names and types."""

from __future__ import annotations

import gzip
import inspect
import json
import zipfile
from pathlib import Path
from typing import Any

import networkx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch_geometric.data import Data, InMemoryDataset

from data.own.own_graphs import carried, expected, labelled_graphs, read
from grale.data.own.graph_set import read_set
from grale.graphs.record import RecordError


def test_networkx_graphs_keep_names_and_attributes() -> None:
    graphs = labelled_graphs()
    assert carried(read_set(graphs)) == expected(graphs)
    assert carried(read_set(graphs)) != expected(labelled_graphs(4)[1:])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_a_folder_of_xml_files_comes_back(tmp_path: Path, kind: str, directed: bool) -> None:
    graphs = labelled_graphs()
    if directed:
        graphs = [networkx.DiGraph(graph.edges(data=True)) for graph in graphs]
        for graph, other in zip(graphs, labelled_graphs()):
            graph.add_nodes_from(other.nodes(data=True))
    for number, graph in enumerate(graphs):
        getattr(networkx, f"write_{kind}")(graph, tmp_path / f"{number}.{kind}")
    assert carried(read(tmp_path)) == expected(graphs)


def test_types_of_graphml_are_kept(tmp_path: Path) -> None:
    graph = networkx.path_graph(2)
    graph.add_nodes_from([(0, {"n": 5, "b": True, "x": 0.5}), (1, {"n": 7, "b": False, "x": 1.5})])
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    found = read(tmp_path / "g.graphml").graphs[0].node_values()
    assert found == [{"n": 5, "b": True, "x": 0.5}, {"n": 7, "b": False, "x": 1.5}]


@pytest.mark.parametrize("key", ["edges", "links"])
def test_node_link_json_comes_back(tmp_path: Path, key: str) -> None:
    graphs = labelled_graphs()
    is_new = "edges" in inspect.signature(networkx.node_link_data).parameters  # since networkx 3.4
    named = {"edges" if is_new else "link": key}
    text = json.dumps([networkx.node_link_data(graph, **named) for graph in graphs])
    (tmp_path / "g.json").write_text(text)
    assert carried(read(tmp_path / "g.json")) == expected(graphs)


def test_json_lines_come_back_with_targets(tmp_path: Path) -> None:
    lines = [
        {"node_labels": ["a", "b"], "edges": [[0, 1]], "edge_labels": ["x"], "y": 3.5},
        {"node_labels": ["b"], "edges": [], "y": 1.0},
    ]
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    found = read(path)
    assert [g.node_values() for g in found.graphs] == [
        [{"label": "a"}, {"label": "b"}],
        [{"label": "b"}],
    ]
    assert found.graphs[0].edge_values() == [{"label": "x"}]
    assert [known["y"] for known in found.targets] == [3.5, 1.0]


def test_several_attributes_of_json_lines_are_one_label(tmp_path: Path) -> None:
    nodes = [{"element": "C", "charge": 0}, {"element": "C", "charge": 1}]
    (tmp_path / "g.jsonl").write_text(json.dumps({"node_labels": nodes, "edges": [[0, 1]]}))
    found = read(tmp_path / "g.jsonl")
    assert found.graphs[0].node_values() == nodes
    assert found.space.num_node_labels == 2
    alone = read(tmp_path / "g.jsonl", nodes=["element"])
    assert alone.space.num_node_labels == 1


def test_parquet_with_list_columns_comes_back(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"labels": ["C", "N"], "edges": [[0, 1]], "toxic": True},
        {"labels": ["N"], "edges": [], "toxic": False},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "g.parquet")
    found = read(tmp_path / "g.parquet")
    assert [g.node_values() for g in found.graphs] == [
        [{"label": "C"}, {"label": "N"}],
        [{"label": "N"}],
    ]
    assert [known["toxic"] for known in found.targets] == [True, False]


def test_unlabelled_parquet_needs_only_sizes(tmp_path: Path) -> None:
    rows = [{"n_nodes": 3, "edges": [[0, 1], [1, 2]], "labels": None}, {"n_nodes": 1, "edges": []}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "g.parquet")
    assert [g.num_nodes for g in read(tmp_path / "g.parquet").graphs] == [3, 1]


TU = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "6\n7\n6\n6\n8\n",
    "edge_labels": "0\n0\n1\n1\n0\n0\n",
    "node_attributes": "0.5, 1.0\n1.5, 2.0\n0.0, 0.0\n1.0, 1.0\n2.0, 2.5\n",
}


@pytest.mark.parametrize("packed", [False, True])
def test_the_tu_format_comes_back_from_a_folder_and_a_zip(tmp_path: Path, packed: bool) -> None:
    target = tmp_path / "SET.zip" if packed else tmp_path
    if packed:
        with zipfile.ZipFile(target, "w") as archive:
            for name, text in TU.items():
                archive.writestr(f"SET/SET_{name}.txt", text)
    else:
        for name, text in TU.items():
            (tmp_path / f"SET_{name}.txt").write_text(text)
    found = read(target)
    first, second = found.graphs
    assert first.node_values() == [
        {"label": 6, "features": [0.5, 1.0]},
        {"label": 7, "features": [1.5, 2.0]},
    ]
    assert second.edges.tolist() == [[0, 1], [1, 2]]
    assert second.edge_values() == [{"label": 1}, {"label": 0}]
    assert [known["label"] for known in found.targets] == [1, -1]


def test_csv_of_ogb_comes_back(tmp_path: Path) -> None:
    tables = {
        "edge": "0,1\n0,1\n1,2\n",
        "num-node-list": "2\n3\n",
        "num-edge-list": "1\n2\n",
        "node-feat": "6,0\n7,1\n6,0\n6,0\n8,0\n",
        "edge-feat": "0,1\n0,2\n0,1\n",
        "graph-label": "1\n0\n",
    }
    (tmp_path / "raw").mkdir()
    for name, text in tables.items():
        with gzip.open(tmp_path / "raw" / f"{name}.csv.gz", "wt") as file:
            file.write(text)
    found = read(tmp_path)
    assert found.graphs[0].node_values() == [{"label": [6, 0]}, {"label": [7, 1]}]
    assert found.graphs[1].edge_values() == [{"label": [0, 2]}, {"label": [0, 1]}]
    assert [known["label"] for known in found.targets] == [1, 0]


def pyg_graphs() -> list[Data]:
    return [
        Data(
            x=torch.eye(3)[[number % 3, 1]],
            edge_index=torch.tensor([[0, 1], [1, 0]]),
            edge_attr=torch.tensor([4, 4]),
            pos=torch.tensor([[0.0, 1.5], [2.0, float(number)]]),
            y=torch.tensor([number]),
        )
        for number in range(3)
    ]


class _Folder(InMemoryDataset):
    """An in-memory dataset as users write them."""

    @property
    def processed_file_names(self) -> list[str]:
        return ["data.pt"]

    def process(self) -> None:
        self.save(pyg_graphs(), self.processed_paths[0])


def test_pyg_graphs_come_back_from_a_list_and_from_a_folder(tmp_path: Path) -> None:
    from_list = read_set(pyg_graphs())
    assert from_list.graphs[0].node_values()[0] == {"x": [1, 0, 0], "pos": [0.0, 1.5]}
    assert from_list.graphs[2].edge_values() == [{"edge_attr": 4}]
    again = from_list.graphs[0].to_pyg()
    wanted = pyg_graphs()[0]
    for name in ("x", "pos", "edge_attr", "edge_index"):
        assert torch.equal(again[name], wanted[name].to(again[name].dtype))
    _Folder(str(tmp_path))
    from_folder = read(tmp_path)
    assert carried(from_folder) == carried(from_list)
    assert [known["y"] for known in from_folder.targets] == [0, 1, 2]


def test_a_folder_of_two_formats_is_refused(tmp_path: Path) -> None:
    networkx.write_graphml(networkx.path_graph(2), tmp_path / "a.graphml")
    (tmp_path / "b.jsonl").write_text('{"num_nodes": 2, "edges": []}')
    with pytest.raises(RecordError, match=r"mixes a\.graphml and b\.jsonl"):
        read(tmp_path)
