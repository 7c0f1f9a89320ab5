"""Which graphs a model or a dataset can hold: label counts, largest size, direction.

These sizes come from the data and are stored with the weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from grale.graphs.attributes import Attributes
from grale.graphs.graph import FloatArray, Graph


@dataclass(frozen=True, kw_only=True)
class GraphSpace:
    """All graphs with at most `max_nodes` nodes and labels in range."""

    max_nodes: int
    """Largest number of nodes (paper: N)."""
    num_node_labels: int
    """Node labels are 0 .. num_node_labels - 1."""
    num_edge_labels: int = 1
    """Edge labels are 1 .. num_edge_labels; 0 is "no edge"."""
    directed: bool = False
    attributes: Attributes | None = None
    """What labels and features mean; None if labels are numbers and there are no features."""

    def __post_init__(self) -> None:
        for name in ("max_nodes", "num_node_labels", "num_edge_labels"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.attributes is None:
            return
        for name in ("num_node_labels", "num_edge_labels"):
            known = getattr(self.attributes, name)
            if getattr(self, name) != known:
                raise ValueError(f"{name}={getattr(self, name)}, but attributes name {known}")

    @property
    def node_feature_dim(self) -> int:
        """Continuous features of a node."""
        features = self.attributes and self.attributes.node_features
        return len(features) if features else 0

    @property
    def edge_feature_dim(self) -> int:
        """Continuous features of an edge."""
        features = self.attributes and self.attributes.edge_features
        return len(features) if features else 0

    def as_data(self) -> dict[str, Any]:
        """Plain values for a file; spaces without attributes do not mention them."""
        values = asdict(self)
        if self.attributes is None:
            del values["attributes"]
        return values

    @property
    def num_edge_classes(self) -> int:
        """Edge labels and "no edge"."""
        return self.num_edge_labels + 1

    def named(self, graph: Graph) -> Graph:
        """The graph with the names of this space's labels, if it has any."""
        return graph if self.attributes is None else graph.named(self.attributes)

    def why_not(self, graph: Graph) -> str | None:
        """Say why the graph is outside this space, or None if it is inside."""
        if graph.num_nodes > self.max_nodes:
            return f"has {graph.num_nodes} nodes, but max_nodes={self.max_nodes}"
        if graph.directed != self.directed:
            return f"is directed={graph.directed}, but directed={self.directed} is expected"
        top = int(graph.node_labels.max())
        if top >= self.num_node_labels:
            node = int(graph.node_labels.argmax())
            return (
                f"has label {top} on node {node}, but node labels end at {self.num_node_labels - 1}"
            )
        if graph.num_edges and int(graph.edge_labels.max()) > self.num_edge_labels:
            edge = int(graph.edge_labels.argmax())
            label, pair = graph.edge_labels[edge], tuple(graph.edges[edge].tolist())
            return (
                f"has label {label} on edge {pair}, but edge labels end at {self.num_edge_labels}"
            )
        for item, rows, count in (
            ("node", graph.node_features, self.node_feature_dim),
            ("edge", graph.edge_features, self.edge_feature_dim),
        ):
            if _width(rows) != count and not (
                rows is None and item == "edge" and not len(graph.edges)
            ):
                return f"has {_width(rows)} features per {item}, but {count} are expected"
        return None

    def check(self, graphs: Iterable[Graph]) -> None:
        """Raise for the first graph outside this space."""
        for row, graph in enumerate(graphs):
            reason = self.why_not(graph)
            if reason is not None:
                raise ValueError(f"graph {row} {reason}; leave it out or use another model")

    @classmethod
    def around(cls, graphs: Iterable[Graph]) -> GraphSpace:
        """Return the smallest space that holds all the graphs.

        >>> GraphSpace.around([Graph([0, 3], [(0, 1)])]).num_node_labels
        4
        """
        listed = list(graphs)
        if not listed:
            raise ValueError("cannot find the space of no graphs; give at least one")
        directed = listed[0].directed
        for row, graph in enumerate(listed):
            if graph.directed != directed:
                raise ValueError(f"graph {row} has directed={graph.directed}, but graph 0 does not")
        return cls(
            max_nodes=max(graph.num_nodes for graph in listed),
            num_node_labels=max(int(graph.node_labels.max()) for graph in listed) + 1,
            num_edge_labels=max(int(graph.edge_labels.max(initial=1)) for graph in listed),
            directed=directed,
        )


def _width(rows: FloatArray | None) -> int:
    return 0 if rows is None else rows.shape[1]
