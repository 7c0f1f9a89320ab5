"""A set of graphs, numbered: what `grale prepare graphs` writes and `grale fit` trains on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grale.data.own.files import read_records
from grale.data.own.schema import Choice, find_attributes
from grale.graphs.attributes import Attributes
from grale.graphs.graph import Graph
from grale.graphs.record import GraphRecord, RecordError, record_of, to_graph
from grale.graphs.space import GraphSpace

LARGEST = 128  # nodes; time and memory of a step grow with the square


class Rejected(NamedTuple):
    """A graph that was left out, and why."""

    where: str
    reason: str


class GraphSet(NamedTuple):
    """Graphs of one space."""

    graphs: list[Graph]
    space: GraphSpace
    targets: list[Mapping[str, Any]]
    """What is known of each graph as a whole."""
    rejected: list[Rejected]


def read_set(
    source: Path | str | Iterable[Any],
    choice: Choice | None = None,
    max_nodes: int = LARGEST,
    directed: bool = False,
) -> GraphSet:
    """Read a file or folder, or take a list of networkx graphs, PyG `Data` or `Graph`."""
    if isinstance(source, str | Path):
        records = list(read_records(Path(source), directed))
        if not records:
            raise RecordError(f"{source} holds no graphs")
        return numbered(records, choice, max_nodes)
    items = list(source)
    if not items:
        raise ValueError("there are no graphs; give at least one")
    plain = [item for item in items if isinstance(item, Graph) and _is_plain(item)]
    if len(plain) == len(items):
        return _of_numbers(plain, max_nodes)
    records = [record_of(item, f"graph {row}", directed) for row, item in enumerate(items)]
    return numbered(records, choice, max_nodes)


def _is_plain(graph: Graph) -> bool:
    no_features = graph.node_features is None and graph.edge_features is None
    return graph.attributes is None and no_features


def numbered(
    records: Sequence[GraphRecord], choice: Choice | None, max_nodes: int = LARGEST
) -> GraphSet:
    """Find the attributes of the records and number their labels."""
    _check_direction(records)
    kept, rejected = [], []
    for record in records:
        size = len(record.node_ids)
        if size > max_nodes:
            rejected.append(Rejected(record.where, f"has {size} nodes, more than {max_nodes}"))
        else:
            kept.append(record)
    if not kept:
        raise ValueError(
            f"all {len(records)} graphs have more than {max_nodes} nodes; raise --max-nodes"
        )
    attributes = find_attributes(kept, choice)
    graphs = [to_graph(record, attributes) for record in kept]
    space = GraphSpace(
        max_nodes=max(graph.num_nodes for graph in graphs),
        num_node_labels=attributes.num_node_labels,
        num_edge_labels=attributes.num_edge_labels,
        directed=graphs[0].directed,
        attributes=attributes,
    )
    return GraphSet(graphs, space, [record.targets for record in kept], rejected)


def read_for(
    path: Path, attributes: Attributes | None, directed: bool
) -> list[tuple[GraphRecord, Graph | str]]:
    """Graphs of a file for a model that exists: each as its labels say, or why it cannot be."""
    found: list[tuple[GraphRecord, Graph | str]] = []
    for record in read_records(path, directed):
        try:
            found.append((record, to_graph(record, attributes)))
        except RecordError as error:
            found.append((record, str(error)))
    if not found:
        raise RecordError(f"{path} holds no graphs")
    return found


def _check_direction(records: Sequence[GraphRecord]) -> None:
    odd = next((record for record in records if record.directed != records[0].directed), None)
    if odd is not None:
        one, other = ("directed" if r.directed else "undirected" for r in (records[0], odd))
        raise RecordError(
            f"{records[0].where} is {one}, but {odd.where} is {other}; a set has one kind: "
            "convert the others"
        )


def _of_numbers(graphs: list[Graph], max_nodes: int) -> GraphSet:
    """Graphs whose labels are numbers keep them."""
    sizes = [graph.num_nodes for graph in graphs]
    rejected = [
        Rejected(f"graph {row}", f"has {size} nodes, more than {max_nodes}")
        for row, size in enumerate(sizes)
        if size > max_nodes
    ]
    kept = [graph for graph in graphs if graph.num_nodes <= max_nodes]
    if not kept:
        raise ValueError(f"all {len(graphs)} graphs have more than {max_nodes} nodes")
    return GraphSet(kept, GraphSpace.around(kept), [{} for _ in kept], rejected)
