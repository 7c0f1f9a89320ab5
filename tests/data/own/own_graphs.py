"""A few graphs as a user may have them: names, two attributes, positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx

from grale.data.own.graph_set import GraphSet, read_set
from grale.data.own.schema import Choice


def labelled_graphs(count: int = 3) -> list[networkx.Graph]:
    """Paths of two, three, ... nodes; text on nodes and edges."""
    graphs = []
    for number in range(count):
        graph = networkx.path_graph([f"n{node}" for node in range(number + 2)])
        for place, node in enumerate(graph):
            graph.nodes[node]["element"] = ("C", "N", "O")[place % 3]
        for place, ends in enumerate(graph.edges):
            graph.edges[ends]["bond"] = ("single", "double")[place % 2]
        graphs.append(graph)
    return graphs


def carried(found: GraphSet) -> list[tuple[Any, ...]]:
    """What each graph of a set holds, by name, in the order of its nodes."""
    return [
        (graph.node_values(), graph.edges.tolist(), graph.edge_values(), graph.directed)
        for graph in found.graphs
    ]


def expected(graphs: list[networkx.Graph]) -> list[tuple[Any, ...]]:
    """The same, straight from networkx."""
    found = []
    for graph in graphs:
        place = {node: number for number, node in enumerate(graph)}
        ends = [[place[a], place[b]] for a, b in graph.edges]
        nodes = [dict(values) for _, values in graph.nodes(data=True)]
        on_edges = [dict(values) for *_, values in graph.edges(data=True)]
        found.append((nodes, ends, on_edges, graph.is_directed()))
    return found


def read(path: Path, **choice: Any) -> GraphSet:
    return read_set(path, Choice(**choice))
