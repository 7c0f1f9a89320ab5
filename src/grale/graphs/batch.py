"""A padded batch of graphs (paper: "Padded graphs for multiple output sizes").

    G = (h, F, C):  h = node_mask,  F = one-hot(node_labels),  C = one-hot(edge_labels)

Padded entries of every tensor are zero, and True in a mask means real.

Labels are kept as integers; the model turns them into one-hot vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grale.graphs.graph import Graph
from grale.graphs.paths import shortest_paths


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Graphs of different sizes side by side, each padded to the same number of nodes."""

    node_mask: Bool[Tensor, "B N"]
    """True where a node exists (paper: h)."""
    node_labels: Int[Tensor, "B N"]
    edge_labels: Int[Tensor, "B N N"]
    """0 is "no edge"; symmetric unless `directed`."""
    directed: bool = False
    node_features: Float[Tensor, "B N f"] | None = None
    """Continuous features, in the units of the data; None if there are none."""
    edge_features: Float[Tensor, "B N N g"] | None = None
    """The same for pairs; zero where there is no edge."""

    @classmethod
    def from_graphs(cls, graphs: Sequence[Graph], max_nodes: int | None = None) -> GraphBatch:
        """Pad the graphs to `max_nodes` (by default to the largest of them)."""
        if len(graphs) == 0:
            raise ValueError("cannot make a batch of no graphs; give at least one")
        sizes = [graph.num_nodes for graph in graphs]
        width = max(sizes) if max_nodes is None else max_nodes
        _check_fits(sizes, width)
        directed = graphs[0].directed
        node_labels = np.zeros((len(graphs), width), dtype=np.int64)
        edge_labels = np.zeros((len(graphs), width, width), dtype=np.int64)
        for row, graph in enumerate(graphs):
            if graph.directed != directed:
                raise ValueError(f"graph {row} has directed={graph.directed}, but graph 0 does not")
            source, target = graph.edges[:, 0], graph.edges[:, 1]
            node_labels[row, : graph.num_nodes] = graph.node_labels
            edge_labels[row, source, target] = graph.edge_labels
            if not directed:
                edge_labels[row, target, source] = graph.edge_labels
        node_mask = np.arange(width) < np.array(sizes)[:, None]
        return cls(
            torch.from_numpy(node_mask),
            torch.from_numpy(node_labels),
            torch.from_numpy(edge_labels),
            directed,
            _node_features(graphs, width),
            _edge_features(graphs, width),
        )

    def to_graphs(self) -> list[Graph]:
        """Undo :meth:`from_graphs`: one graph per row, its real nodes only."""
        masks = self.node_mask.cpu().numpy()
        nodes, edges = (
            tensor.to("cpu", torch.int64).numpy() for tensor in (self.node_labels, self.edge_labels)
        )
        if not self.directed:
            edges = np.triu(edges)
        on_nodes, on_edges = (
            None if tensor is None else tensor.detach().float().cpu().numpy()
            for tensor in (self.node_features, self.edge_features)
        )
        graphs = []
        for row, (mask, labels, matrix) in enumerate(zip(masks, nodes, edges)):
            inside = matrix[mask][:, mask]
            pairs = np.argwhere(inside)
            found = inside[pairs[:, 0], pairs[:, 1]]
            features = {}
            if on_nodes is not None:
                features["node_features"] = on_nodes[row][mask]
            if on_edges is not None:
                square = on_edges[row][mask][:, mask]
                features["edge_features"] = square[pairs[:, 0], pairs[:, 1]]
            graphs.append(Graph.trusted(labels[mask], pairs, found, self.directed, **features))
        return graphs

    @property
    def num_nodes(self) -> Int[Tensor, " B"]:
        """Real nodes of each graph (paper: n)."""
        return self.node_mask.sum(dim=1)

    @property
    def max_nodes(self) -> int:
        """Padded size (paper: N)."""
        return self.node_mask.shape[1]

    @property
    def adjacency(self) -> Bool[Tensor, "B N N"]:
        """True where an edge exists (paper: A)."""
        return self.edge_labels > 0

    @cached_property
    def path_length(self) -> Int[Tensor, "B N N"]:
        """Edges on a shortest path, or UNREACHABLE (paper: SP); computed once."""
        return shortest_paths(self.adjacency, self.node_mask)

    @property
    def edge_mask(self) -> Bool[Tensor, "B N N"]:
        """True where both ends exist, the diagonal included."""
        return self.node_mask[:, :, None] & self.node_mask[:, None, :]

    def __len__(self) -> int:
        return self.node_mask.shape[0]

    def __getitem__(self, rows: slice | list[int] | Int[Tensor, " S"]) -> GraphBatch:
        return GraphBatch(
            self.node_mask[rows],
            self.node_labels[rows],
            self.edge_labels[rows],
            self.directed,
            None if self.node_features is None else self.node_features[rows],
            None if self.edge_features is None else self.edge_features[rows],
        )

    def padded_to(self, max_nodes: int) -> GraphBatch:
        """Return the same graphs with `max_nodes` columns; real nodes are never cut off."""
        extra = max_nodes - self.max_nodes
        if extra < 0:
            _check_fits((self.last_node + 1).tolist(), max_nodes)
        return GraphBatch(
            torch.nn.functional.pad(self.node_mask, (0, extra)),
            torch.nn.functional.pad(self.node_labels, (0, extra)),
            torch.nn.functional.pad(self.edge_labels, (0, extra, 0, extra)),
            self.directed,
            _padded(self.node_features, (0, 0, 0, extra)),
            _padded(self.edge_features, (0, 0, 0, extra, 0, extra)),
        )

    @property
    def last_node(self) -> Int[Tensor, " B"]:
        """Column of each graph's last real node."""
        columns = torch.arange(self.max_nodes, device=self.node_mask.device)
        return (columns * self.node_mask).amax(dim=1)

    def to(self, device: torch.device | str) -> GraphBatch:
        """Move to a device."""
        return GraphBatch(
            self.node_mask.to(device, non_blocking=True),
            self.node_labels.to(device, non_blocking=True),
            self.edge_labels.to(device, non_blocking=True),
            self.directed,
            None if self.node_features is None else self.node_features.to(device),
            None if self.edge_features is None else self.edge_features.to(device),
        )


def _padded(features: Tensor | None, extra: tuple[int, ...]) -> Tensor | None:
    return None if features is None else torch.nn.functional.pad(features, extra)


def _node_features(graphs: Sequence[Graph], width: int) -> Float[Tensor, "B N f"] | None:
    rows = [graph.node_features for graph in graphs]
    known = [row for row in rows if row is not None]
    if not known:
        return None
    features = np.zeros((len(graphs), width, known[0].shape[1]), dtype=np.float32)
    for place, row in enumerate(rows):
        if row is None or row.shape[1] != features.shape[2]:
            raise ValueError(f"graph {place} has other node features than the first")
        features[place, : len(row)] = row
    return torch.from_numpy(features)


def _edge_features(graphs: Sequence[Graph], width: int) -> Float[Tensor, "B N N g"] | None:
    known = [g.edge_features for g in graphs if g.edge_features is not None]
    if not known:
        return None
    shape = (len(graphs), width, width, known[0].shape[1])
    features = np.zeros(shape, dtype=np.float32)
    for place, graph in enumerate(graphs):
        if graph.num_edges == 0:
            continue
        if graph.edge_features is None or graph.edge_features.shape[1] != shape[3]:
            raise ValueError(f"graph {place} has other edge features than the first")
        source, target = graph.edges[:, 0], graph.edges[:, 1]
        features[place, source, target] = graph.edge_features
        if not graph.directed:
            features[place, target, source] = graph.edge_features
    return torch.from_numpy(features)


def _check_fits(sizes: Sequence[int], max_nodes: int) -> None:
    for row, size in enumerate(sizes):
        if size > max_nodes:
            raise ValueError(
                f"graph {row} has {size} nodes, but max_nodes={max_nodes}; "
                "raise max_nodes or leave the graph out"
            )
