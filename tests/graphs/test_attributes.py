"""Names and types of labels and features go into a space and come back from it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import networkx
import numpy as np
import pytest

from grale.graphs.attributes import Attributes, Features, UnknownLabelError, Vocabulary
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.record import record_of, to_graph
from grale.graphs.space import GraphSpace
from grale.settings.build import SettingsError, build

ELEMENTS = Vocabulary(
    attributes=("element", "charge"), kinds=("text", "integer"), values=(("C", "0"), ("N", "1"))
)
POSITION = Features(
    names=("pos", "pos", "mass"), means=(0.0, 0.0, 12.0), deviations=(1.0, 1.0, 2.0)
)
KNOWN = Attributes(nodes=ELEMENTS, node_features=POSITION)


def molecule() -> networkx.Graph:
    graph = networkx.path_graph(2)
    graph.add_node(0, element="N", charge=1, pos=[0.5, 1.0], mass=14.0)
    graph.add_node(1, element="C", charge=0, pos=[0.0, 2.0], mass=12.0)
    return graph


def test_a_graph_comes_back_with_names_types_and_features() -> None:
    graph = to_graph(record_of(molecule(), "here"), KNOWN)
    assert graph.node_labels.tolist() == [1, 0]
    again = graph.to_networkx()
    assert dict(again.nodes(data=True)) == dict(molecule().nodes(data=True))
    assert dict(again.nodes(data=True)) != dict(networkx.path_graph(2).nodes(data=True))


def test_an_unknown_label_names_itself_and_the_nearest() -> None:
    with pytest.raises(UnknownLabelError, match="element/charge='N/0'.*nearest is 'N/1'"):
        ELEMENTS.place_of({"element": "N", "charge": 0})
    with pytest.raises(ValueError, match="'charge' is integer elsewhere"):
        ELEMENTS.place_of({"element": "N", "charge": "1"})


def test_a_space_with_attributes_survives_a_file() -> None:
    space = GraphSpace(max_nodes=4, num_node_labels=2, attributes=KNOWN)
    assert build(GraphSpace, json.loads(json.dumps(space.as_data()))) == space
    assert "attributes" not in replace(space, attributes=None).as_data()


@pytest.mark.parametrize(
    "values",
    [
        {"attributes": ["a"], "kinds": ["integer"], "values": [["x"]]},
        {"attributes": ["a"], "kinds": ["text"], "values": [["x"], ["x"]]},
        {"attributes": ["a", "b"], "kinds": ["text", "text"], "values": [["x"]]},
        {"attributes": [], "kinds": [], "values": []},
        {"attributes": ["a"], "kinds": ["code"], "values": [["x"]]},
    ],
)
def test_a_vocabulary_that_makes_no_sense_is_refused(values: dict) -> None:
    with pytest.raises(SettingsError):
        build(Vocabulary, values)


def test_a_space_whose_counts_differ_from_its_names_is_refused() -> None:
    with pytest.raises(ValueError, match="num_node_labels=3, but attributes name 2"):
        GraphSpace(max_nodes=4, num_node_labels=3, attributes=KNOWN)


def test_features_follow_their_nodes_and_edges() -> None:
    graph = Graph(
        [0, 0, 0],
        [(2, 1), (1, 0)],
        node_features=[[1.0], [2.0], [3.0]],
        edge_features=[[21.0], [10.0]],
    )
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_features.tolist() == [[10.0], [21.0]]
    moved = graph.permuted([2, 0, 1])
    assert moved.node_features.tolist() == [[3.0], [1.0], [2.0]]
    assert moved.edge_features.tolist() == [[21.0], [10.0]]
    assert moved.permuted([1, 2, 0]) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    other = Graph([0, 0, 0], graph.edges, node_features=[[1.0], [2.0], [4.0]])
    assert other != graph


def test_a_batch_keeps_features_and_padding_is_zero() -> None:
    small = Graph([0], node_features=[[5.0]])
    large = Graph([0, 1], [(0, 1)], node_features=[[1.0], [2.0]])
    batch = GraphBatch.from_graphs([small, large])
    assert batch.node_features.tolist() == [[[5.0], [0.0]], [[1.0], [2.0]]]
    assert batch.to_graphs() == [small, large]
    with pytest.raises(ValueError, match="graph 1 has other node features"):
        GraphBatch.from_graphs([small, Graph([0])])


def test_a_space_says_which_features_are_missing() -> None:
    space = GraphSpace(max_nodes=4, num_node_labels=2, attributes=KNOWN)
    assert space.why_not(Graph([0])) == "has 0 features per node, but 3 are expected"
    assert space.why_not(Graph([0], node_features=np.zeros((1, 3)))) is None
