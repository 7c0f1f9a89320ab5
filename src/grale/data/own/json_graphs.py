"""JSON: one graph, a list of graphs, or a graph per line, in either of two forms.

node-link   {"nodes": [{"id": 0, "kind": "a"}], "links": [{"source": 0, "target": 1}]}
            as networkx writes it; "edges" instead of "links" is the same
lists       {"node_labels": ["a", "b"], "edges": [[0, 1]], "edge_labels": ["x"]}
            also "num_nodes" instead of labels, "node_features", "edge_features", "directed"

Labels may be objects of several attributes: {"element": "C", "charge": 1}. Other entries are known
of the whole graph (`targets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grale.data.molecules.lines import lines_of, open_text, why_not_read
from grale.files import MAX_DATA_BYTES, MAX_JSON_BYTES, parse_json, read_json
from grale.graphs.record import GraphRecord, RecordError

LISTS = (
    "node_labels", "labels", "node_features", "edges", "edge_labels", "edge_features", "directed",
    "num_nodes", "n_nodes", "node_ids",
)  # fmt: skip
"""Entries of the second form; `labels` is `node_labels`, `n_nodes` is `num_nodes`."""


def read_json_graphs(path: Path) -> Iterator[GraphRecord]:
    """Graphs of a .json file."""
    values = read_json(path, MAX_DATA_BYTES)
    if not isinstance(values, list):
        yield graph_of(values, str(path))
        return
    for number, entry in enumerate(values):
        yield graph_of(entry, f"{path}, graph {number}")


def read_json_lines(path: Path) -> Iterator[GraphRecord]:
    """Graphs of a .jsonl file, one per line; empty lines are skipped."""
    with open_text(path) as file:
        for number, line in enumerate(lines_of(file, MAX_JSON_BYTES), start=1):
            where = f"{path}, line {number}"
            if not line.strip():
                continue
            if reason := why_not_read(line.rstrip("\r\n")):
                raise RecordError(f"{where}: {reason}")
            try:
                values = parse_json(line, where)
            except ValueError as error:
                raise RecordError(str(error)) from error
            yield graph_of(values, where)


def graph_of(values: Any, where: str) -> GraphRecord:
    """Record of one object in either form."""
    if not isinstance(values, Mapping):
        raise RecordError(f"{where}: expected an object, got {type(values).__name__}")
    if "nodes" in values:
        return _node_link(values, where)
    if not {"node_labels", "labels", "num_nodes", "n_nodes", "node_features"} & values.keys():
        raise RecordError(
            f"{where}: a graph needs 'nodes' (node-link), or 'node_labels' or 'num_nodes'; "
            f"found {sorted(map(str, values))[:8]}"
        )
    return lists_of(values, where)


def _node_link(values: Mapping[str, Any], where: str) -> GraphRecord:
    links = values.get("links", values.get("edges", []))
    _require_lists(where, nodes=values["nodes"], links=links)
    place: dict[Any, int] = {}
    names, carried = [], []
    for number, node in enumerate(values["nodes"]):
        if not isinstance(node, Mapping) or "id" not in node:
            raise RecordError(f"{where}: node {number} must be an object with an 'id'")
        names.append(_key(node["id"]))
        place.setdefault(names[-1], number)
        carried.append({name: value for name, value in node.items() if name != "id"})
    ends, on_edges = [], []
    for number, link in enumerate(links):
        if not isinstance(link, Mapping) or not {"source", "target"} <= link.keys():
            raise RecordError(f"{where}: edge {number} must have 'source' and 'target'")
        pair = _key(link["source"]), _key(link["target"])
        for name in pair:
            if name not in place:
                raise RecordError(f"{where}: edge {number} names the missing node {name!r:.60}")
        ends.append((place[pair[0]], place[pair[1]]))
        skip = ("source", "target", "key", "id")
        on_edges.append({name: value for name, value in link.items() if name not in skip})
    about = values.get("graph") or {}
    targets = dict(about) if isinstance(about, Mapping) else {}
    directed = _truth(values, where)
    return GraphRecord(where, names, carried, ends, on_edges, directed, targets)


def lists_of(values: Mapping[str, Any], where: str) -> GraphRecord:
    """Record of lists: a JSON object, or a row of a table."""
    labels = values.get("node_labels", values.get("labels"))
    features, given = values.get("node_features"), values.get("num_nodes", values.get("n_nodes"))
    edges = values.get("edges")
    edges = [] if edges is None else edges
    _require_lists(where, edges=edges)
    size = len(labels) if labels else len(features) if features else given
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise RecordError(f"{where}: num_nodes must be a number, got {given!r:.40}")
    if edges and not isinstance(edges[0], list | tuple):  # as `grale prepare` stores them
        edges = [edges[place : place + 2] for place in range(0, len(edges), 2)]
    pairs = [_pair(edge, number, where) for number, edge in enumerate(edges)]
    names = values.get("node_ids") or range(size)
    _require_lists(where, node_ids=list(names))
    if len(names) != size:
        raise RecordError(f"{where}: {len(names)} node_ids for {size} nodes; give one each")
    return GraphRecord(
        where,
        [_key(name) for name in names],
        _carried(labels, features, size, "node", where),
        pairs,
        _carried(values.get("edge_labels"), values.get("edge_features"), len(pairs), "edge", where),
        _truth(values, where),
        {name: value for name, value in values.items() if name not in LISTS},
    )


def _carried(labels: Any, features: Any, count: int, item: str, where: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, column in (("label", labels), ("features", features)):
        if not column:
            continue
        if not isinstance(column, list) or len(column) != count:
            size = len(column) if isinstance(column, list) else "no list"
            raise RecordError(f"{where}: {size} {item} {name} entries for {count} {item}s")
        for row, value in zip(rows, column):
            row |= value if isinstance(value, dict) else {name: value}
    return rows


def _pair(edge: Any, number: int, where: str) -> tuple[int, int]:
    is_pair = isinstance(edge, list | tuple) and len(edge) == 2
    if not is_pair or not all(type(end) is int for end in edge):
        raise RecordError(
            f"{where}: edge {number} must be a pair of node numbers, got {edge!r:.40}"
        )
    return edge[0], edge[1]


def _require_lists(where: str, **values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, list):
            raise RecordError(f"{where}: {name} must be a list, got {type(value).__name__}")


def _truth(values: Mapping[str, Any], where: str) -> bool:
    directed = values.get("directed", False)
    if not isinstance(directed, bool):
        raise RecordError(f"{where}: directed must be true or false, got {directed!r:.40}")
    return directed


def _key(name: Any) -> Any:
    """A node id that can be looked up: networkx writes tuples as lists."""
    return tuple(_key(part) for part in name) if isinstance(name, list) else name
