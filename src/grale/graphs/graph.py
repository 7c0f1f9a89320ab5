"""One labelled graph of any size, in plain numpy (paper: "Problem Statement").

Node labels count from 0. Edge labels count from 1, because 0 is "no edge"; edges
without labels are all labelled 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grale.graphs.attributes import Attributes, values_of
from grale.graphs.parts import FloatArray as FloatArray
from grale.graphs.parts import IntArray as IntArray
from grale.graphs.parts import (
    Integers,
    as_features,
    as_integer_list,
    as_integers,
    check_parts,
    equal_features,
    unique_edges,
)

if TYPE_CHECKING:
    import networkx


class Graph:
    """A graph with integer node and edge labels; immutable once built.

    Parameters
    ----------
    node_labels
        One label per node, from 0. Its length is the number of nodes, at least one.
    edges
        Pairs (i, j) of node indices. Undirected edges may be given in either direction,
        or in both with the same label; each is kept once.
    edge_labels
        One label per edge, from 1; all 1 if left out.
    directed
        Whether (i, j) and (j, i) are different edges.
    node_features, edge_features
        Rows of finite floats, one per node and one per edge; None if there are none.
    attributes
        What labels and features mean; does not change which graphs are equal.

    >>> g = Graph([0, 1, 2], edges=[(1, 0), (1, 2)], edge_labels=[1, 2])
    >>> g.num_nodes, g.edges.tolist(), g.edge_labels.tolist()
    (3, [[0, 1], [1, 2]], [1, 2])
    """

    __slots__ = (
        "attributes", "directed", "edge_features", "edge_labels", "edges", "node_features",
        "node_labels",
    )  # fmt: skip

    node_labels: IntArray
    edges: IntArray
    edge_labels: IntArray
    directed: bool
    node_features: FloatArray | None
    edge_features: FloatArray | None
    attributes: Attributes | None

    def __init__(
        self,
        node_labels: Integers,
        edges: Integers = (),
        edge_labels: Integers | None = None,
        directed: bool = False,
        *,
        node_features: Any = None,
        edge_features: Any = None,
        attributes: Attributes | None = None,
    ) -> None:
        nodes = as_integer_list(node_labels, "node_labels")
        pairs = as_integers(edges, "edges")
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"edges must be pairs of node indices, got shape {pairs.shape}")
        if edge_labels is None:
            labels = np.ones(len(pairs), dtype=np.int64)
        else:
            labels = as_integer_list(edge_labels, "edge_labels")
        check_parts(nodes, pairs, labels)
        if not directed:
            pairs = np.sort(pairs, axis=1)
        on_nodes = as_features(node_features, len(nodes), "node")
        on_edges = as_features(edge_features, len(pairs), "edge")
        kept = unique_edges(pairs, labels)
        on_edges = None if on_edges is None else on_edges[kept]
        self._fill(nodes, pairs[kept], labels[kept], directed, on_nodes, on_edges, attributes)

    @classmethod
    def trusted(
        cls,
        node_labels: IntArray,
        edges: IntArray,
        edge_labels: IntArray,
        directed: bool = False,
        *,
        node_features: FloatArray | None = None,
        edge_features: FloatArray | None = None,
        attributes: Attributes | None = None,
    ) -> Graph:
        """Skip all checks, for callers whose edges are already valid, unique and sorted.

        The arrays must be int64 and are not copied. Undirected edges have i < j, and edges are
        in lexicographic order. Checking costs ten times as much as building.
        """
        graph = cls.__new__(cls)
        features = node_features, edge_features
        graph._fill(node_labels, edges, edge_labels, directed, *features, attributes)
        return graph

    def _fill(
        self,
        nodes: IntArray,
        pairs: IntArray,
        labels: IntArray,
        directed: bool,
        node_features: FloatArray | None,
        edge_features: FloatArray | None,
        attributes: Attributes | None,
    ) -> None:
        for name, array in zip(
            ("node_labels", "edges", "edge_labels", "node_features", "edge_features"),
            (nodes, pairs, labels, node_features, edge_features),
        ):
            if array is not None:
                array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "directed", bool(directed))
        object.__setattr__(self, "attributes", attributes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Graph is immutable; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Graph is immutable; {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(Graph, **self._extras())
        return made, (self.node_labels, self.edges, self.edge_labels, self.directed)

    def _extras(self) -> dict[str, Any]:
        """What many graphs do not have."""
        names = ("node_features", "edge_features", "attributes")
        return {name: getattr(self, name) for name in names}

    @property
    def num_nodes(self) -> int:
        """Number of nodes (paper: n)."""
        return len(self.node_labels)

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return len(self.edges)

    def label_matrix(self) -> IntArray:
        """Square matrix of edge labels, 0 where there is no edge and on the diagonal."""
        matrix = np.zeros((self.num_nodes, self.num_nodes), dtype=np.int64)
        source, target = self.edges[:, 0], self.edges[:, 1]
        matrix[source, target] = self.edge_labels
        if not self.directed:
            matrix[target, source] = self.edge_labels
        return matrix

    @classmethod
    def from_label_matrix(
        cls, node_labels: Integers, matrix: Integers, directed: bool = False
    ) -> Graph:
        """Build the graph whose :meth:`label_matrix` is `matrix`."""
        full = np.asarray(matrix)
        size = len(as_integer_list(node_labels, "node_labels"))
        if full.shape != (size, size):
            raise ValueError(f"the matrix of {size} nodes must be square, got shape {full.shape}")
        if not directed:
            if not np.array_equal(full, full.T):
                raise ValueError("the matrix of an undirected graph must be symmetric")
            full = np.triu(full)
        edges = np.argwhere(full)
        return cls(node_labels, edges, full[edges[:, 0], edges[:, 1]], directed)

    def permuted(self, order: Sequence[int] | IntArray) -> Graph:
        """Return the same graph with nodes listed in another order: new node i is old `order[i]`.

        >>> Graph([5, 6, 7], [(0, 1)]).permuted([2, 0, 1]).node_labels.tolist()
        [7, 5, 6]
        """
        order = as_integer_list(order, "order")
        if not np.array_equal(np.sort(order), np.arange(self.num_nodes)):
            raise ValueError(f"order must list each of 0..{self.num_nodes - 1} once")
        rank = np.argsort(order)
        extras = self._extras()
        if self.node_features is not None:
            extras["node_features"] = self.node_features[order]
        return Graph(
            self.node_labels[order], rank[self.edges], self.edge_labels, self.directed, **extras
        )

    def named(self, attributes: Attributes | None) -> Graph:
        """Return the same graph with other meanings of its labels and features."""
        extras = self._extras() | {"attributes": attributes}
        parts = (self.node_labels, self.edges, self.edge_labels, self.directed)
        return Graph.trusted(*parts, **extras)

    def node_values(self) -> list[dict[str, Any]]:
        """Attributes of each node by name; `label` is its number if labels have no names."""
        known = self.attributes
        vocabulary, features = (known.nodes, known.node_features) if known else (None, None)
        return values_of(self.node_labels, 0, self.node_features, vocabulary, features)

    def edge_values(self) -> list[dict[str, Any]]:
        """Attributes of each edge by name, as in :meth:`node_values`."""
        known = self.attributes
        vocabulary, features = (known.edges, known.edge_features) if known else (None, None)
        return values_of(self.edge_labels, 1, self.edge_features, vocabulary, features)

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, node_label: str = "label", edge_label: str = "label"
    ) -> Graph:
        """Convert from networkx; see :func:`grale.graphs.convert.from_networkx`."""
        from grale.graphs.convert import from_networkx

        return from_networkx(graph, node_label, edge_label)

    def to_networkx(self, node_label: str = "label", edge_label: str = "label") -> networkx.Graph:
        """Convert to networkx; see :func:`grale.graphs.convert.to_networkx`."""
        from grale.graphs.convert import to_networkx

        return to_networkx(self, node_label, edge_label)

    @classmethod
    def from_pyg(cls, data: Any, directed: bool = False) -> Graph:
        """Convert from PyTorch Geometric; see :func:`grale.graphs.convert.from_pyg`."""
        from grale.graphs.convert import from_pyg

        return from_pyg(data, directed)

    def to_pyg(self) -> Any:
        """Convert to PyTorch Geometric; see :func:`grale.graphs.convert.to_pyg`."""
        from grale.graphs.convert import to_pyg

        return to_pyg(self)

    @classmethod
    def from_smiles(cls, smiles: str) -> Graph:
        """Read a molecule; see :func:`grale.graphs.molecules.molecule.from_smiles`."""
        from grale.graphs.molecules.molecule import from_smiles

        return from_smiles(smiles)

    def to_smiles(self) -> str:
        """Write a molecule; see :func:`grale.graphs.molecules.molecule.to_smiles`."""
        from grale.graphs.molecules.molecule import to_smiles

        return to_smiles(self)

    @classmethod
    def from_mol(cls, molecule: Any) -> Graph:
        """Convert from an RDKit molecule; see :func:`grale.graphs.molecules.molecule.from_mol`."""
        from grale.graphs.molecules.molecule import from_mol

        return from_mol(molecule)

    def to_mol(self) -> Any:
        """Convert to an RDKit molecule; see :func:`grale.graphs.molecules.molecule.to_mol`."""
        from grale.graphs.molecules.molecule import to_mol

        return to_mol(self)

    def __eq__(self, other: object) -> bool:
        """Whether the two are the same graph with nodes in the same order."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and np.array_equal(self.node_labels, other.node_labels)
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.edge_labels, other.edge_labels)
            and equal_features(self.node_features, other.node_features)
            and equal_features(self.edge_features, other.edge_features)
        )

    def __hash__(self) -> int:
        parts = (self.node_labels.tobytes(), self.edges.tobytes(), self.edge_labels.tobytes())
        return hash((self.directed, *parts))

    def __repr__(self) -> str:
        kind = "directed, " if self.directed else ""
        return f"Graph({kind}{self.num_nodes} nodes, {self.num_edges} edges)"
