"""A graph as its owner has it: node ids, attributes by name, and where it was found.

Readers of files and conversions from other libraries make records; one function makes a `Graph` of
a record, so the same rules hold everywhere (decisions/014).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grale.graphs.attributes import Attributes, Features, Vocabulary
from grale.graphs.graph import Graph

if TYPE_CHECKING:
    import networkx


class RecordError(ValueError):
    """A graph that breaks a rule; the message names file, graph and node."""


@dataclass(frozen=True)
class GraphRecord:
    """One graph before labels are numbered."""

    where: str
    """File and graph, for messages."""
    node_ids: Sequence[Any]
    """What the owner calls the nodes."""
    node_values: Sequence[Mapping[str, Any]]
    """Attributes of each node."""
    edges: Sequence[tuple[int, int]]
    """Pairs of places in `node_ids`."""
    edge_values: Sequence[Mapping[str, Any]]
    """Attributes of each edge."""
    directed: bool = False
    targets: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the whole graph: classes, measurements."""

    def node(self, place: int) -> str:
        """Name a node for a message."""
        return f"node {str(self.node_ids[place])[:60]!r}"

    def edge(self, place: int) -> str:
        """Name an edge for a message."""
        ends = (str(self.node_ids[end])[:60] for end in self.edges[place])
        return "edge {!r} - {!r}".format(*ends)


class _Carried(NamedTuple):
    """Labels and features of all nodes, or of all edges."""

    labels: list[int]
    features: list[list[float]] | None


def to_graph(record: GraphRecord, attributes: Attributes | None) -> Graph:
    """Number the labels of a record; raise a `RecordError` if it breaks a rule.

    Attributes that `attributes` does not know are ignored.
    """
    known = attributes or Attributes()
    _check(record)
    nodes = _carried(record, record.node_values, known.nodes, known.node_features, record.node)
    edges = _carried(record, record.edge_values, known.edges, known.edge_features, record.edge)
    kept = _distinct_edges(record, edges)
    try:
        return Graph(
            nodes.labels,
            [record.edges[row] for row in kept],
            [edges.labels[row] + 1 for row in kept],
            record.directed,
            node_features=nodes.features,
            edge_features=None if edges.features is None else [edges.features[r] for r in kept],
            attributes=attributes,
        )
    except ValueError as error:
        raise RecordError(f"{record.where}: {error}") from error


def _check(record: GraphRecord) -> None:
    """Raise for what no graph may have."""
    if len(record.node_ids) == 0:
        raise RecordError(f"{record.where}: the graph has no nodes; leave it out")
    seen: set[Any] = set()
    for place, name in enumerate(record.node_ids):
        if name in seen:
            raise RecordError(
                f"{record.where}: {record.node(place)} is listed twice; node ids must differ"
            )
        seen.add(name)
    for row, (start, end) in enumerate(record.edges):
        if not (0 <= start < len(record.node_ids) and 0 <= end < len(record.node_ids)):
            raise RecordError(
                f"{record.where}: edge {row} {(start, end)} names a missing node; the graph has "
                f"{len(record.node_ids)} nodes"
            )
        if start == end:
            raise RecordError(
                f"{record.where}: {record.node(start)} has a self-loop; remove self-loops, or "
                "write them as an attribute of the node"
            )


def _carried(
    record: GraphRecord,
    values: Sequence[Mapping[str, Any]],
    vocabulary: Vocabulary | None,
    features: Features | None,
    name: Callable[[int], str],
) -> _Carried:
    labels, rows = [], []
    for place, carried in enumerate(values):
        try:
            labels.append(0 if vocabulary is None else vocabulary.place_of(carried))
            rows.append([] if features is None else features.row_of(carried))
        except ValueError as error:
            raise RecordError(f"{record.where}: {name(place)} {error}") from error
    return _Carried(labels, None if features is None else rows)


def _distinct_edges(record: GraphRecord, edges: _Carried) -> list[int]:
    """Rows of the edges, each once; the same edge with other attributes is an error."""
    first: dict[tuple[int, int], int] = {}
    for row, (start, end) in enumerate(record.edges):
        pair = (start, end) if record.directed or start < end else (end, start)
        other = first.setdefault(pair, row)
        if other == row:
            continue
        same_features = edges.features is None or edges.features[row] == edges.features[other]
        if edges.labels[row] != edges.labels[other] or not same_features:
            raise RecordError(
                f"{record.where}: {record.edge(row)} is listed twice with different attributes; "
                "keep one, or join their attributes into one"
            )
    return list(first.values())


def record_of(item: Any, where: str, directed: bool = False) -> GraphRecord:
    """Record of a networkx graph, a PyG `Data` or a `Graph`.

    PyG `Data` does not say whether it is directed: `directed` does.
    """
    if isinstance(item, Graph):
        return _from_graph(item, where)
    if hasattr(item, "adj") and hasattr(item, "is_multigraph"):
        return _from_networkx(item, where)
    if hasattr(item, "edge_index"):
        return from_tensors(_pyg_arrays(item), where, directed)
    raise TypeError(
        f"{where}: expected a networkx graph, PyG Data or grale.Graph, got {type(item).__name__}"
    )


def _from_networkx(graph: networkx.Graph, where: str) -> GraphRecord:
    place = {node: number for number, node in enumerate(graph.nodes)}
    arcs = list(graph.edges(data=True))
    return GraphRecord(
        where,
        list(graph.nodes),
        [dict(values) for _, values in graph.nodes(data=True)],
        [(place[start], place[end]) for start, end, _ in arcs],
        [dict(values) for _, _, values in arcs],
        graph.is_directed(),
        {name: value for name, value in graph.graph.items() if isinstance(name, str)},
    )


def _from_graph(graph: Graph, where: str) -> GraphRecord:
    """Names as the graph has them; labels are numbers under `label` if it has none."""
    return GraphRecord(
        where,
        range(graph.num_nodes),
        graph.node_values(),
        [(start, end) for start, end in graph.edges.tolist()],
        graph.edge_values(),
        graph.directed,
    )


def _pyg_arrays(data: Any) -> dict[str, Any]:
    """Arrays of a `Data`, by name."""
    found = {name: value for name, value in data.to_dict().items() if value is not None}
    arrays = {name: v.cpu().numpy() if hasattr(v, "cpu") else v for name, v in found.items()}
    if data.num_nodes is not None:
        arrays.setdefault("num_nodes", int(data.num_nodes))
    return arrays


NODE_ARRAYS, EDGE_ARRAYS = ("x", "pos", "z"), ("edge_attr", "edge_type", "edge_weight")
"""Names under which PyTorch Geometric keeps what nodes and edges carry."""


def from_tensors(arrays: Mapping[str, Any], where: str, directed: bool) -> GraphRecord:
    """Record of the arrays of a PyG `Data`: `x`, `pos`, `edge_index`, `edge_attr`, `y`, ..."""
    pairs = np.asarray(arrays.get("edge_index", np.zeros((2, 0))), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[0] != 2:
        raise RecordError(f"{where}: edge_index must have shape (2, edges), got {pairs.shape}")
    counts = [len(arrays[name]) for name in NODE_ARRAYS if name in arrays]
    given = np.asarray(arrays.get("num_nodes", counts[0] if counts else pairs.max(initial=-1) + 1))
    size = int(given.reshape(-1)[0])
    known = (*NODE_ARRAYS, *EDGE_ARRAYS, "edge_index", "num_nodes")
    return GraphRecord(
        where,
        range(size),
        _rows({name: arrays[name] for name in NODE_ARRAYS if name in arrays}, size, where),
        [(start, end) for start, end in pairs.T.tolist()],
        _rows({n: arrays[n] for n in EDGE_ARRAYS if n in arrays}, pairs.shape[1], where),
        directed,
        {name: _target(value) for name, value in arrays.items() if name not in known},
    )


def _rows(arrays: Mapping[str, Any], count: int, where: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, array in arrays.items():
        values = np.asarray(array)
        if len(values) != count:
            raise RecordError(f"{where}: {name} has {len(values)} rows instead of {count}")
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim == 2 and values.shape[1] == 0:
            continue
        for row, value in zip(rows, values.tolist()):
            row[name] = value
    return rows


def _target(value: Any) -> Any:
    """A number if there is one, otherwise the value itself."""
    array = np.asarray(value)
    return array.reshape(-1)[0].item() if array.size == 1 else value
