"""Bounding the graph edit distance from above (paper: appendix "Graph reconstruction metrics").

    Edit(G, G_hat) = min over P of  sum_i 1[F_i != (P F_hat)_i] + sum_ij 1[C_ij != (P C_hat P')_ij]

The minimum is a quadratic assignment problem. The search starts from a given mapping, or from a
linear assignment of nodes with similar surroundings, and trades the partners of two nodes as long
as a trade helps. The result is the cost of a mapping: an upper bound, not the distance itself.

Graphs of different sizes are padded with null nodes to the larger size. Nothing is lost:
with unit costs, a substitution never costs more than a deletion and an insertion.

Departures: each undirected edge counts once, and size errors are counted in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from grale.graphs.graph import Graph, IntArray
from grale.matching.problem import Problem, assignment_start, pose
from grale.metrics.edit_distance import checked_mapping, edit_distance
from grale.metrics.isomorphism import is_isomorphic

MAX_ROUNDS = 1000  # every round gains at least one edit, so this only guards huge graphs


class EditBound(NamedTuple):
    """An upper bound on the graph edit distance, with the mapping that attains it."""

    edit_distance: int
    """Cost of `mapping`: at least the graph edit distance."""
    mapping: IntArray
    """`mapping[i]` is the node of the second graph for node i of the first, or -1."""


def edit_distance_bound(
    g1: Graph,
    g2: Graph,
    mapping: Sequence[int] | np.ndarray | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> EditBound:
    """Bound the graph edit distance from above by local search.

    The result is an upper bound, not the distance: the search stops at a mapping that no single
    trade of partners improves.

    Parameters
    ----------
    g1, g2
        Two graphs, both directed or both undirected.
    mapping
        Where to start: `mapping[i]` is the node of `g2` for node `i` of `g1`, or -1. The
        result never costs more. By default, the start is a linear assignment.
    max_rounds
        Largest number of trades.

    >>> path = Graph([0] * 4, [(0, 1), (1, 2), (2, 3)])
    >>> star = Graph([0] * 4, [(0, 1), (0, 2), (0, 3)])
    >>> edit_distance_bound(path, star).edit_distance
    2
    """
    if max_rounds < 0:
        raise ValueError(f"max_rounds must be >= 0, got {max_rounds}")
    problem = pose(g1, g2)
    if mapping is None:
        permutation = assignment_start(problem)
    else:
        permutation = problem.permutation(checked_mapping(g1, g2, mapping))
    found = problem.mapping(_improved(permutation, problem, max_rounds))
    return EditBound(edit_distance(g1, g2, found), found)


def swap_deltas(problem: Problem) -> Int64[np.ndarray, "N N"]:
    """Entry (r, s) is the change in cost when nodes r and s trade partners, in O(N^3) for all.

    Node i of the first graph is matched to node i of the second; A and B are their matrices.
    Row r of A moves from row r of B to row s, and row s the other way:

        delta_rs = x_rs + x_sr - x_rr - x_ss + y_rs
        x_rs     = 1[label_r != label_s] + sum_k 1[A_rk != B_sk]

    At k = r and k = s these sums compare the edge between r and s with the empty diagonal;
    y_rs puts in its place what that edge really costs. Directed graphs add the same for columns.
    """
    labels1, matrix1 = problem.labels1, problem.matrix1
    labels2, matrix2 = problem.labels2, problem.matrix2
    costs = (matrix1[:, None] != matrix2).sum(axis=2)
    differs = (matrix1 != matrix2).astype(np.int64)
    turned = matrix1 != matrix2.T
    present = (matrix1 != 0).astype(np.int64) + (matrix2 != 0)
    repairs = differs + turned - 2 * present
    if problem.directed:
        costs = costs + (matrix1.T[:, None] != matrix2.T).sum(axis=2)
        repairs = repairs + repairs.T
    costs = costs + (labels1[:, None] != labels2)
    kept = costs.diagonal()
    deltas = costs + costs.T - kept[:, None] - kept + repairs
    np.fill_diagonal(deltas, 0)
    return deltas


def reconstruction_distances(
    targets: Sequence[Graph],
    predictions: Sequence[Graph | None],
    mappings: Sequence[Sequence[int] | np.ndarray | None] | None = None,
) -> list[int]:
    """Bound the edit distance of each prediction to its target.

    Parameters
    ----------
    targets
        The true graphs.
    predictions
        One per target; None where there is no prediction. That costs the whole target: one edit
        for each of its nodes and edges.
    mappings
        Where the search starts, one per target: from nodes of the target to nodes of the
        prediction, or None.
    """
    mappings = [None] * len(targets) if mappings is None else mappings
    if not len(targets) == len(predictions) == len(mappings):
        raise ValueError(
            f"{len(targets)} targets, {len(predictions)} predictions and {len(mappings)} mappings; "
            "give one each"
        )
    return [_distance(*row) for row in zip(targets, predictions, mappings)]


def _distance(
    target: Graph, prediction: Graph | None, mapping: Sequence[int] | np.ndarray | None
) -> int:
    """Bound the edit distance; 0 exactly when the two are isomorphic, whatever the search finds."""
    if prediction is None:
        return target.num_nodes + target.num_edges
    if is_isomorphic(target, prediction):
        return 0
    return edit_distance_bound(target, prediction, mapping).edit_distance


def _improved(permutation: IntArray, problem: Problem, max_rounds: int) -> IntArray:
    """Make the best trade of two partners, as long as it lowers the cost."""
    permutation = permutation.copy()
    for _ in range(max_rounds):
        deltas = swap_deltas(problem.permuted(permutation))
        first, second = divmod(int(deltas.argmin()), len(deltas))
        if deltas[first, second] >= 0:
            break
        permutation[[first, second]] = permutation[[second, first]]
    return permutation
