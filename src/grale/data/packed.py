"""Many graphs in a few flat arrays: small in memory, quick to cut into padded batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """Graphs one after the other; graph g owns nodes and edges between its two offsets."""

    node_offsets: NDArray[np.int64]
    node_labels: NDArray[np.integer]
    edge_offsets: NDArray[np.int64]
    edges: NDArray[np.integer]
    """Pairs of node indices inside their graph, shape (edges, 2)."""
    edge_labels: NDArray[np.integer]
    directed: bool = False
    properties: NDArray[np.float32] | None = None
    """A row of properties for each graph, NaN where unknown; None if there are none."""
    node_features: NDArray[np.float32] | None = None
    """A row of continuous features for each node; None if there are none."""
    edge_features: NDArray[np.float32] | None = None
    inputs: NDArray[np.uint8] | None = None
    """A row of bytes that each graph is to be predicted from; None if there are none."""

    @classmethod
    def from_graphs(
        cls,
        graphs: Sequence[Graph],
        properties: NDArray[np.float32] | None = None,
        inputs: NDArray[np.uint8] | None = None,
    ) -> PackedGraphs:
        """Pack a list of graphs."""
        if len(graphs) == 0:
            raise ValueError("there are no graphs to pack; give at least one")
        directed = graphs[0].directed
        for row, graph in enumerate(graphs):
            if graph.directed != directed:
                raise ValueError(f"graph {row} has directed={graph.directed}, unlike graph 0")
        return cls(
            _offsets([graph.num_nodes for graph in graphs]),
            np.concatenate([graph.node_labels for graph in graphs]).astype(np.int32),
            _offsets([graph.num_edges for graph in graphs]),
            np.concatenate([graph.edges for graph in graphs]).astype(np.int32),
            np.concatenate([graph.edge_labels for graph in graphs]).astype(np.int32),
            directed,
            properties,
            _stacked([graph.node_features for graph in graphs]),
            _stacked([graph.edge_features for graph in graphs if graph.num_edges]),
            inputs,
        )

    @classmethod
    def join(cls, parts: Sequence[PackedGraphs]) -> PackedGraphs:
        """All graphs of several packs, in order."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            _offsets(np.concatenate([np.diff(part.node_offsets) for part in parts])),
            np.concatenate([part.node_labels for part in parts]),
            _offsets(np.concatenate([np.diff(part.edge_offsets) for part in parts])),
            np.concatenate([part.edges for part in parts]),
            np.concatenate([part.edge_labels for part in parts]),
            parts[0].directed,
            _joined([part.properties for part in parts]),
            _joined([part.node_features for part in parts]),
            _joined([part.edge_features for part in parts if len(part.edges)]),
            _joined([part.inputs for part in parts]),
        )

    def take(self, rows: NDArray[np.int64]) -> PackedGraphs:
        """Some of the graphs, in the given order."""
        _, nodes = _ragged(self.node_offsets, rows)
        _, edges = _ragged(self.edge_offsets, rows)
        return PackedGraphs(
            _offsets(np.diff(self.node_offsets)[rows]),
            self.node_labels[nodes],
            _offsets(np.diff(self.edge_offsets)[rows]),
            self.edges[edges],
            self.edge_labels[edges],
            self.directed,
            None if self.properties is None else self.properties[rows],
            None if self.node_features is None else self.node_features[nodes],
            None if self.edge_features is None else self.edge_features[edges],
            None if self.inputs is None else self.inputs[rows],
        )

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def num_nodes(self) -> NDArray[np.int64]:
        """Size of each graph."""
        return np.diff(self.node_offsets)

    def check(self, space: GraphSpace, name: str) -> None:
        """Raise and name the first graph of `name` that is outside `space`."""
        is_wrong = self.num_nodes > space.max_nodes
        for offsets, labels, most in (
            (self.node_offsets, self.node_labels, space.num_node_labels - 1),
            (self.edge_offsets, self.edge_labels, space.num_edge_labels),
        ):
            entries = np.flatnonzero((labels < 0) | (labels > most))
            is_wrong[np.searchsorted(offsets, entries, side="right") - 1] = True
        if is_wrong.any():
            row = int(is_wrong.argmax())
            raise ValueError(f"graph {row} of {name} {space.why_not(self.graph(row))}")

    def graph(self, row: int) -> Graph:
        """Unpack one graph."""
        nodes = slice(self.node_offsets[row], self.node_offsets[row + 1])
        edges = slice(self.edge_offsets[row], self.edge_offsets[row + 1])
        return Graph.trusted(
            self.node_labels[nodes].astype(np.int64),
            self.edges[edges].astype(np.int64),
            self.edge_labels[edges].astype(np.int64),
            self.directed,
            node_features=None if self.node_features is None else self.node_features[nodes],
            edge_features=None if self.edge_features is None else self.edge_features[edges],
        )

    def graphs(self) -> list[Graph]:
        """Unpack all graphs."""
        return [self.graph(row) for row in range(len(self))]

    def batch(self, rows: NDArray[np.int64]) -> GraphBatch:
        """Padded batch of the given graphs, as wide as the largest of them."""
        sizes = self.num_nodes[rows]
        width = int(sizes.max())
        owner, source = _ragged(self.node_offsets, rows)
        place = source - self.node_offsets[rows][owner]
        node_labels = np.zeros((len(rows), width), dtype=np.int64)
        node_labels[owner, place] = self.node_labels[source]
        on_nodes = on_edges = None
        if self.node_features is not None:
            shape = (len(rows), width, self.node_features.shape[1])
            on_nodes = torch.zeros(shape)
            on_nodes[owner, place] = torch.from_numpy(self.node_features[source])
        owner, source = _ragged(self.edge_offsets, rows)
        start, end = self.edges[source, 0], self.edges[source, 1]
        edge_labels = np.zeros((len(rows), width, width), dtype=np.int64)
        edge_labels[owner, start, end] = self.edge_labels[source]
        if not self.directed:
            edge_labels[owner, end, start] = self.edge_labels[source]
        if self.edge_features is not None:
            on_edges = torch.zeros(len(rows), width, width, self.edge_features.shape[1])
            values = torch.from_numpy(self.edge_features[source])
            on_edges[owner, start, end] = values
            if not self.directed:
                on_edges[owner, end, start] = values
        node_mask = np.arange(width) < sizes[:, None]
        return GraphBatch(
            torch.from_numpy(node_mask),
            torch.from_numpy(node_labels),
            torch.from_numpy(edge_labels),
            self.directed,
            on_nodes,
            on_edges,
        )


def _stacked(rows: list[NDArray[np.float32] | None]) -> NDArray[np.float32] | None:
    """Features of all graphs one after the other; all have them or none."""
    return _joined(rows) if rows else None


def _joined(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known and len(known) == len(parts) else None


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _ragged(
    offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each entry of the given rows: which row it belongs to, and its flat index."""
    counts = offsets[rows + 1] - offsets[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    inside = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, offsets[rows][owner] + inside
