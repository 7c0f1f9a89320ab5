"""Beam search: the best few partial mappings, extended node by node.

Nodes of the first graph get their partners in an order set by a guide: the nodes it is surest of
come first. Partial mappings are ranked by their cost plus what the guide expects of the chosen
pairs. The guide is a matrix of costs: those of the linear assignment, or minus the scores of a
learned matcher.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64

from grale.graphs.graph import IntArray
from grale.matching.problem import Problem

WIDTH = 24


def beam_search(
    problem: Problem, guide: Float64[np.ndarray, "N N"], width: int = WIDTH
) -> IntArray:
    """Permutation found with at most `width` partial mappings at a time."""
    order = surest_first(guide)
    size = problem.size
    partners = np.zeros((1, 0), dtype=np.int64)  # of order[0], order[1], ...
    costs, expected = np.zeros(1), np.zeros(1)
    for depth, node in enumerate(order.tolist()):
        added = _added_costs(problem, node, order[:depth], partners).astype(np.float64)
        np.put_along_axis(added, partners, np.inf, axis=1)  # a partner is taken once
        total = costs[:, None] + added
        rank = total + expected[:, None] + guide[node]
        best = np.argsort(rank, axis=None, kind="stable")[:width]
        best = best[np.isfinite(rank.reshape(-1)[best])]
        rows, chosen = np.divmod(best, size)
        partners = np.concatenate([partners[rows], chosen[:, None]], axis=1)
        costs = total[rows, chosen]
        expected = expected[rows] + guide[node, chosen]
    permutation = np.empty(size, dtype=np.int64)
    permutation[order] = partners[costs.argmin()]
    return permutation


def surest_first(guide: Float64[np.ndarray, "N N"]) -> IntArray:
    """Nodes sorted by how much cheaper their best partner is than their second best."""
    if len(guide) == 1:
        return np.zeros(1, dtype=np.int64)
    two = np.partition(guide, 1, axis=1)[:, :2]
    return np.argsort(two[:, 0] - two[:, 1], kind="stable").astype(np.int64)


def _added_costs(problem: Problem, node: int, before: IntArray, partners: IntArray) -> IntArray:
    """Entry (w, j): edits added to partial mapping w if the node gets the partner j."""
    labels = (problem.labels1[node] != problem.labels2).astype(np.int64)
    edges = problem.matrix1[node, before]  # from the node to those before it
    there = problem.matrix2[:, partners]  # j, w, k
    added = labels + (there != edges).sum(axis=2).T
    if problem.directed:
        back = problem.matrix2.T[:, partners]
        added = added + (back != problem.matrix1[before, node]).sum(axis=2).T
    return added
