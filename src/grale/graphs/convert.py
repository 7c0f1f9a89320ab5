"""Graph to and from networkx and PyTorch Geometric.

Both directions keep every label. If no node (or edge) has the label attribute, all get label 0
(or 1); if only some have it, that is an error.
"""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np

from grale.graphs.graph import Graph, IntArray


def from_networkx(graph: networkx.Graph, node_label: str, edge_label: str) -> Graph:
    """Convert a networkx graph; its nodes are numbered in the order networkx lists them.

    Parameters
    ----------
    graph
        A `networkx.Graph` or `networkx.DiGraph`, but no multigraph.
    node_label, edge_label
        Names of the integer attributes to read.
    """
    if graph.is_multigraph():
        raise ValueError("a multigraph may join two nodes twice; convert it to networkx.Graph")
    index = {node: position for position, node in enumerate(graph.nodes)}
    nodes = _attribute(dict(graph.nodes(data=node_label)), "node", node_label, 0)
    arcs = {(u, v): label for u, v, label in graph.edges(data=edge_label)}
    edges = [(index[u], index[v]) for u, v in arcs]
    labels = _attribute(arcs, "edge", edge_label, 1)
    return Graph(nodes, edges, labels, directed=graph.is_directed())


def to_networkx(graph: Graph, node_label: str, edge_label: str) -> networkx.Graph:
    """Convert to `networkx.Graph`, or `networkx.DiGraph` if directed, nodes 0..n-1.

    A graph whose labels have names, or with features, gets its attributes under their own names.
    """
    result = networkx.DiGraph() if graph.directed else networkx.Graph()
    if graph.attributes is not None or graph.node_features is not None:
        result.add_nodes_from(enumerate(graph.node_values()))
        result.add_edges_from(
            (u, v, values) for (u, v), values in zip(graph.edges.tolist(), graph.edge_values())
        )
        return result
    for node, label in enumerate(graph.node_labels.tolist()):
        result.add_node(node, **{node_label: label})
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels.tolist()):
        result.add_edge(u, v, **{edge_label: label})
    return result


def from_pyg(data: Any, directed: bool) -> Graph:
    """Convert a `torch_geometric.data.Data`.

    Node labels come from `data.x`: integers of shape (n,) or (n, 1), or one-hot rows; no
    `x` means label 0 everywhere. Edge labels come from `data.edge_attr` in the same way,
    counted from 1 when they are integers and from 1 for the first column when one-hot.
    """
    num_nodes = data.num_nodes
    if num_nodes is None:
        raise ValueError("the Data object has neither x nor num_nodes; set num_nodes")
    nodes = _labels_from_tensor(data.x, "x", first=0, default_length=int(num_nodes))
    edges = data.edge_index
    pairs = np.zeros((0, 2), dtype=np.int64) if edges is None else edges.t().cpu().numpy()
    labels = _labels_from_tensor(data.edge_attr, "edge_attr", first=1, default_length=len(pairs))
    return Graph(nodes, pairs, labels, directed=directed)


def to_pyg(graph: Graph) -> Any:
    """Convert to `torch_geometric.data.Data`: `x` (n, 1), `edge_index`, `edge_attr` (m,).

    A graph whose labels have names, or with features, gets its attributes under their own names:
    numbers as tensors, text as lists. Those of edges begin with `edge`.
    """
    import torch
    from torch_geometric.data import Data

    if graph.attributes is not None or graph.node_features is not None:
        return _named_pyg(graph)
    pairs, labels = graph.edges, graph.edge_labels
    if not graph.directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        labels = np.concatenate([labels, labels])
    return Data(
        x=torch.tensor(graph.node_labels)[:, None],
        edge_index=torch.tensor(np.ascontiguousarray(pairs.T)),
        edge_attr=torch.tensor(labels),
    )


def _named_pyg(graph: Graph) -> Any:
    import torch
    from torch_geometric.data import Data

    pairs, on_edges = graph.edges, graph.edge_values()
    if not graph.directed:
        pairs, on_edges = np.concatenate([pairs, pairs[:, ::-1]]), [*on_edges, *on_edges]
    columns = _columns(graph.node_values())
    for name, values in _columns(on_edges).items():
        columns[name if name.startswith("edge") else f"edge_{name}"] = values
    made = {
        name: values if isinstance(values[0], str) else torch.tensor(values)
        for name, values in columns.items()
    }
    ends = torch.tensor(np.ascontiguousarray(pairs.T))
    return Data(edge_index=ends, num_nodes=graph.num_nodes, **made)


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _attribute(values: dict[Any, Any], item: str, name: str, default: int) -> list[int]:
    missing = [key for key, value in values.items() if value is None]
    if len(missing) == len(values):
        return [default] * len(values)
    if missing:
        raise ValueError(f"{item} {missing[0]!r} has no attribute {name!r}, but others do")
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise ValueError(
                f"{item} {key!r} has {name}={value!r}; labels must be integers here. Names are "
                "kept by grale.fit, grale.prepare and the models that come from them"
            )
    return [int(value) for value in values.values()]


def _labels_from_tensor(values: Any, name: str, first: int, default_length: int) -> IntArray:
    if values is None:
        return np.full(default_length, first, dtype=np.int64)
    array = values.cpu().numpy()
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2:
        is_one_hot = bool(((array == 0) | (array == 1)).all() and (array.sum(axis=1) == 1).all())
        if not is_one_hot:
            raise ValueError(f"{name} has {array.shape[1]} columns and is not one-hot")
        return np.asarray(array.argmax(axis=1) + first, dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), (n, 1) or one-hot rows, got {array.shape}")
    if not (np.isfinite(array).all() and np.array_equal(array, array.astype(np.int64))):
        raise ValueError(f"{name} holds values that are not integers: {array[:3].tolist()}...")
    return np.asarray(array, dtype=np.int64)
