import warnings

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given

from grale.graphs.graph import Graph
from strategies import graphs, unhurried

with warnings.catch_warnings():  # PyTorch Geometric calls torch.jit.script when imported
    warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
    from torch_geometric.data import Data


@given(graphs())
@unhurried
def test_networkx_gives_the_graph_back(graph):
    converted = graph.to_networkx()
    assert converted.is_directed() == graph.directed
    assert converted.number_of_edges() == graph.num_edges
    assert Graph.from_networkx(converted) == graph


def test_networkx_labels_arrive_under_the_names_asked_for():
    graph = Graph([4, 5], [(0, 1)], [3])
    converted = graph.to_networkx(node_label="atom", edge_label="bond")
    assert dict(converted.nodes(data="atom")) == {0: 4, 1: 5}
    assert list(converted.edges(data="bond")) == [(0, 1, 3)]
    assert Graph.from_networkx(converted, node_label="atom", edge_label="bond") == graph
    # Control: under other names the labels are not found.
    assert Graph.from_networkx(converted) == Graph([0, 0], [(0, 1)])


def test_networkx_graph_survives_a_round_trip_up_to_node_names():
    original = networkx.Graph()
    original.add_node("b", label=2)
    original.add_node("a", label=1)
    original.add_node("c", label=0)
    original.add_edge("a", "c", label=2)
    again = Graph.from_networkx(original).to_networkx()
    named = networkx.relabel_nodes(again, dict(enumerate("bac")))
    assert networkx.utils.graphs_equal(named, original)


def test_a_networkx_graph_without_labels_gets_zeros_and_ones():
    graph = Graph.from_networkx(networkx.path_graph(3))
    assert graph == Graph([0, 0, 0], [(0, 1), (1, 2)], [1, 1])


def test_numpy_integers_are_labels():
    converted = networkx.Graph()
    converted.add_node(0, label=np.int64(3))
    assert Graph.from_networkx(converted) == Graph([3])


@pytest.mark.parametrize("kind", [networkx.MultiGraph, networkx.MultiDiGraph])
def test_a_multigraph_is_refused(kind):
    with pytest.raises(ValueError, match="multigraph"):
        Graph.from_networkx(kind([(0, 1), (0, 1)]))


def test_an_item_without_a_label_among_others_with_one_is_named():
    nodes = networkx.Graph()
    nodes.add_node("left", label=1)
    nodes.add_node("right")
    with pytest.raises(ValueError, match="node 'right' has no attribute 'label'"):
        Graph.from_networkx(nodes)
    edges = networkx.path_graph(3)
    edges.edges[0, 1]["label"] = 1
    with pytest.raises(ValueError, match=r"edge \(1, 2\) has no attribute 'label'"):
        Graph.from_networkx(edges)


@pytest.mark.parametrize("label", [1.0, "C", True, [1]])
def test_networkx_labels_that_are_not_integers_are_named(label):
    converted = networkx.path_graph(2)
    networkx.set_node_attributes(converted, label, "label")
    with pytest.raises(ValueError, match="node 0 has label=.*must be integers"):
        Graph.from_networkx(converted)


def test_bad_networkx_graphs_meet_the_checks_of_graph():
    with pytest.raises(ValueError, match="at least one node"):
        Graph.from_networkx(networkx.Graph())
    with pytest.raises(ValueError, match="self-loop"):
        Graph.from_networkx(networkx.Graph([(0, 0)]))


@given(graphs())
@unhurried
def test_pyg_gives_the_graph_back(graph):
    data = graph.to_pyg()
    data.validate()
    assert data.num_nodes == graph.num_nodes
    assert data.edge_index.shape[1] == graph.num_edges * (1 if graph.directed else 2)
    assert Graph.from_pyg(data, graph.directed) == graph


def test_pyg_data_survives_a_round_trip():
    data = Data(
        x=torch.tensor([[2], [0], [1]]),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_attr=torch.tensor([3, 1]),
    )
    again = Graph.from_pyg(data, directed=True).to_pyg()
    assert torch.equal(again.x, data.x)
    assert torch.equal(again.edge_index, data.edge_index)
    assert torch.equal(again.edge_attr, data.edge_attr)


def test_pyg_tensors_do_not_share_memory_with_the_graph():
    graph = Graph([0, 1], [(0, 1)])
    data = graph.to_pyg()
    data.x[0], data.edge_attr[0] = 7, 7
    assert graph == Graph([0, 1], [(0, 1)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_one_hot_rows_are_read_as_labels(dtype):
    data = Data(
        x=torch.eye(3)[[2, 0]].to(dtype),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_attr=torch.eye(4)[[1, 1]].to(dtype),
    )
    assert Graph.from_pyg(data) == Graph([2, 0], [(0, 1)], [2])


def test_whole_numbers_stored_as_floats_are_labels():
    data = Data(x=torch.tensor([2.0, 0.0]), edge_index=torch.zeros(2, 0, dtype=torch.int64))
    assert Graph.from_pyg(data) == Graph([2, 0])


def test_pyg_data_without_labels_gets_zeros_and_ones():
    data = Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert Graph.from_pyg(data) == Graph([0, 0, 0], [(0, 1)])
    assert Graph.from_pyg(Data(num_nodes=2)) == Graph([0, 0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (torch.tensor([[0.5, 0.5]]), "x has 2 columns and is not one-hot"),
        (torch.tensor([[1, 1]]), "x has 2 columns and is not one-hot"),
        (torch.tensor([[0, 0]]), "x has 2 columns and is not one-hot"),
        (torch.tensor([1.5]), "x holds values that are not integers"),
        (torch.tensor([float("nan")]), "x holds values that are not integers"),
        (torch.tensor([float("inf")]), "x holds values that are not integers"),
        (torch.zeros(1, 2, 2), r"x must have shape .* got \(1, 2, 2\)"),
        (torch.tensor([-1]), "node 0 has label -1"),
    ],
)
def test_pyg_node_labels_that_cannot_be_read_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_pyg(Data(x=values))


def test_pyg_edge_labels_count_from_one():
    data = Data(num_nodes=2, edge_index=torch.tensor([[0], [1]]), edge_attr=torch.tensor([0]))
    with pytest.raises(ValueError, match=r"edge 0 \(0, 1\) has label 0"):
        Graph.from_pyg(data)


@pytest.mark.filterwarnings("ignore:Unable to accurately infer 'num_nodes'")
def test_pyg_data_of_unknown_size_is_refused():
    with pytest.raises(ValueError, match="num_nodes"):
        Graph.from_pyg(Data())


def test_two_labels_for_one_undirected_pyg_edge_are_refused():
    data = Data(
        num_nodes=2, edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.tensor([1, 2])
    )
    with pytest.raises(ValueError, match="listed twice"):
        Graph.from_pyg(data)
    assert Graph.from_pyg(data, directed=True).num_edges == 2
