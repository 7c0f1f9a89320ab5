"""Two graphs as a quadratic assignment problem (paper: appendix "Graph reconstruction metrics").

The smaller graph is padded with null nodes to the size of the larger. Nothing is lost: with unit
costs, a substitution never costs more than a deletion and an insertion. A permutation of the nodes
then stands for a mapping, and null nodes for what is inserted or deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.optimize import linear_sum_assignment

from grale.graphs.graph import Graph, IntArray
from grale.metrics.edit_distance import padded_label_matrix
from grale.metrics.isomorphism import check_same_direction

NULL_LABEL = -1  # label of a null node; real labels count from 0


@dataclass(frozen=True, eq=False)
class Problem:
    """Padded labels and label matrices of two graphs of N nodes."""

    g1: Graph
    g2: Graph
    labels1: Int64[np.ndarray, " N"]
    matrix1: Int64[np.ndarray, "N N"]
    labels2: Int64[np.ndarray, " N"]
    matrix2: Int64[np.ndarray, "N N"]

    @property
    def size(self) -> int:
        """Nodes of the larger graph."""
        return len(self.labels1)

    @property
    def directed(self) -> bool:
        """Whether (i, j) and (j, i) are different edges."""
        return self.g1.directed

    def permuted(self, permutation: IntArray) -> Problem:
        """Reorder the second graph: its node `permutation[i]` becomes node i."""
        return replace(
            self,
            labels2=self.labels2[permutation],
            matrix2=self.matrix2[np.ix_(permutation, permutation)],
        )

    def mapping(self, permutation: IntArray) -> IntArray:
        """Node of the second graph for each node of the first, or -1."""
        found = permutation[: self.g1.num_nodes]
        return np.where(found < self.g2.num_nodes, found, -1)

    def permutation(self, mapping: IntArray) -> IntArray:
        """Give the remaining partners to unmatched and null nodes; never costs more."""
        permutation = np.full(self.size, -1, dtype=np.int64)
        permutation[: len(mapping)] = mapping
        is_left = np.ones(self.size, dtype=bool)
        is_left[mapping[mapping >= 0]] = False
        permutation[permutation < 0] = np.flatnonzero(is_left)
        return permutation


def pose(g1: Graph, g2: Graph) -> Problem:
    """Pad the smaller graph; both must be directed or both undirected."""
    check_same_direction(g1, g2)
    size = max(g1.num_nodes, g2.num_nodes)
    labels = np.full((2, size), NULL_LABEL, dtype=np.int64)
    labels[0, : g1.num_nodes] = g1.node_labels
    labels[1, : g2.num_nodes] = g2.node_labels
    matrices = padded_label_matrix(g1, size), padded_label_matrix(g2, size)
    return Problem(g1, g2, labels[0], matrices[0], labels[1], matrices[1])


def lower_bound(g1: Graph, g2: Graph) -> int:
    """Edits that every mapping needs: node and edge labels whose numbers do not agree.

    >>> lower_bound(Graph([0, 1], [(0, 1)]), Graph([0, 2, 2]))
    3
    """
    nodes = _unequal(g1.node_labels, g2.node_labels)
    return nodes + _unequal(g1.edge_labels, g2.edge_labels)


def _unequal(first: IntArray, second: IntArray) -> int:
    """Number of items of the larger multiset without an equal partner in the other."""
    length = 1 + max(int(first.max(initial=0)), int(second.max(initial=0)))
    common = np.minimum(np.bincount(first, minlength=length), np.bincount(second, minlength=length))
    return max(len(first), len(second)) - int(common.sum())


def assignment_start(problem: Problem) -> IntArray:
    """Permutation that matches nodes with similar labels and edges, by linear assignment."""
    return linear_sum_assignment(assignment_cost(problem))[1].astype(np.int64)


def assignment_cost(problem: Problem) -> Float64[np.ndarray, "N N"]:
    """Entry (i, j) is the cost of matching the nodes, plus half that of matching their edges.

    Edges are compared as multisets of (label there, label back, label of the other end);
    half, because both ends of an edge pay for it.
    """
    labels1, matrix1 = problem.labels1, problem.matrix1
    labels2, matrix2 = problem.labels2, problem.matrix2
    num_labels = 1 + max(labels1.max(), labels2.max())
    num_edge_labels = 1 + max(matrix1.max(), matrix2.max())
    kinds = np.concatenate(
        [
            ((matrix * num_edge_labels + matrix.T) * num_labels + labels) * (matrix + matrix.T > 0)
            for labels, matrix in ((labels1, matrix1), (labels2, matrix2))
        ]
    )
    present = np.setdiff1d(kinds, [0])
    counts1, counts2 = np.split((kinds[:, :, None] == present).sum(axis=1), 2)
    degrees = np.maximum(counts1.sum(axis=1)[:, None], counts2.sum(axis=1))
    shared = np.minimum(counts1[:, None], counts2).sum(axis=2)
    return (labels1[:, None] != labels2) + 0.5 * (degrees - shared)


def inverse(mapping: IntArray, size: int) -> IntArray:
    """Mapping of the second graph, of `size` nodes, to the first.

    >>> inverse(np.array([2, -1]), 3).tolist()
    [-1, -1, 0]
    """
    found = np.full(size, -1, dtype=np.int64)
    kept = np.flatnonzero(mapping >= 0)
    found[mapping[kept]] = kept
    return found
