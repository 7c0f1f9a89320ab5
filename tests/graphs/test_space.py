import pytest
from hypothesis import given

from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from strategies import graph_lists, unhurried

SPACE = GraphSpace(max_nodes=3, num_node_labels=2, num_edge_labels=2)
INSIDE = Graph([0, 1, 1], [(0, 1), (1, 2)], [1, 2])


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (Graph([0] * 4), "has 4 nodes, but max_nodes=3"),
        (Graph([0], directed=True), "is directed=True, but directed=False is expected"),
        (Graph([0, 2]), "has label 2 on node 1, but node labels end at 1"),
        (
            Graph([0] * 3, [(0, 1), (0, 2)], [1, 3]),
            "has label 3 on edge (0, 2), but edge labels end at 2",
        ),
    ],
)
def test_a_graph_outside_is_told_why(graph, reason):
    assert SPACE.why_not(graph) == reason
    with pytest.raises(ValueError, match="graph 1") as raised:
        SPACE.check([INSIDE, graph])
    assert str(raised.value) == f"graph 1 {reason}; leave it out or use another model"


def test_graphs_inside_pass():
    assert SPACE.why_not(INSIDE) is None
    assert SPACE.why_not(Graph([1])) is None
    SPACE.check([INSIDE, Graph([1])])
    SPACE.check([])


@pytest.mark.slow
@given(graph_lists())
@unhurried
def test_around_is_the_smallest_space_that_holds_the_graphs(listed):
    space = GraphSpace.around(listed)
    space.check(listed)
    sizes = {
        "max_nodes": space.max_nodes,
        "num_node_labels": space.num_node_labels,
        "num_edge_labels": space.num_edge_labels,
    }
    for name, size in sizes.items():
        if size > 1:
            smaller = GraphSpace(**{**sizes, name: size - 1}, directed=space.directed)
            assert any(smaller.why_not(graph) for graph in listed)


def test_around_accepts_an_iterator_and_graphs_without_edges():
    space = GraphSpace.around(Graph([label]) for label in (0, 2))
    assert space == GraphSpace(max_nodes=1, num_node_labels=3, num_edge_labels=1)
    assert space.num_edge_classes == 2


def test_no_graphs_have_no_space():
    with pytest.raises(ValueError, match="at least one"):
        GraphSpace.around([])


def test_graphs_of_both_directions_have_no_space():
    with pytest.raises(ValueError, match="graph 1 has directed=True"):
        GraphSpace.around([Graph([0]), Graph([0], directed=True)])


@pytest.mark.parametrize("name", ["max_nodes", "num_node_labels", "num_edge_labels"])
def test_sizes_start_at_one(name):
    sizes = {"max_nodes": 1, "num_node_labels": 1, "num_edge_labels": 1}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        GraphSpace(**{**sizes, name: 0})
