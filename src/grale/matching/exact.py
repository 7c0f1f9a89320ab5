"""The graph edit distance itself, for small graphs.

Branch and bound, starting from the best mapping that tabu search finds. If the time limit stops it,
the result says so: it is then an upper bound, not the distance.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grale.graphs.graph import Graph, IntArray
from grale.matching.problem import assignment_start, inverse, lower_bound, pose
from grale.matching.tabu import STEPS_PER_NODE, compile_tabu, tabu_search

CHUNK = 2_000  # partial mappings between two looks at the clock


class Exact(NamedTuple):
    """The best mapping of a search."""

    mapping: IntArray
    edit_distance: int
    is_optimal: bool
    """Whether no mapping is cheaper; False only at the time limit."""
    visited: int
    """Partial mappings looked at."""


@lru_cache(maxsize=1)
def compile_exact() -> None:
    """Load or compile the inner loop now, so that it does not count against a time limit."""
    compile_tabu()
    _Search(Graph([0]), Graph([1]), 2).advance(1)


def branch_and_bound(g1: Graph, g2: Graph, time_limit: float | None = None) -> Exact:
    """Find a cheapest mapping of `g1` to `g2`, or the best one within `time_limit` seconds."""
    compile_exact()
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    if g1.num_nodes > g2.num_nodes:
        found = branch_and_bound(g2, g1, time_limit)
        return found._replace(mapping=inverse(found.mapping, g1.num_nodes))
    problem = pose(g1, g2)
    steps = STEPS_PER_NODE * problem.size
    start = tabu_search(problem, assignment_start(problem), time_limit, steps)
    mapping, cost = problem.mapping(start.permutation), start.edit_distance
    if cost == lower_bound(g1, g2):
        return Exact(mapping, cost, True, 0)
    search = _Search(g1, g2, cost)
    while not search.advance(CHUNK):
        if deadline is not None and time.perf_counter() >= deadline:
            return Exact(search.best_or(mapping), search.cost, False, search.visited)
    return Exact(search.best_or(mapping), search.cost, True, search.visited)


class _Search:
    """State of one branch and bound; `g1` is not larger than `g2`."""

    def __init__(self, g1: Graph, g2: Graph, cost: int) -> None:
        from grale.matching import exact_kernel  # needs numba

        self.kernel = exact_kernel
        n1, n2 = g1.num_nodes, g2.num_nodes
        self.graphs = g1.label_matrix(), g2.label_matrix(), g1.node_labels, g2.node_labels
        self.order = _order(g1)
        self.directed = g1.directed
        self.best = np.full(n1, -1, dtype=np.int64)
        self.state = np.array([0, cost, 0], dtype=np.int64)
        num_labels = 1 + max(int(g1.node_labels.max()), int(g2.node_labels.max()))
        num_kinds = 1 + max(int(matrix.max()) for matrix in self.graphs[:2])
        self.work = (
            np.full(n1, -1, dtype=np.int64),  # partners
            np.zeros(n2, dtype=np.bool_),  # which are taken
            np.zeros(n1 + 1, dtype=np.int64),  # cost by depth
            np.zeros(n1 + 1, dtype=np.int64),  # next partner by depth
        )
        self.tables = (
            np.zeros((num_labels, 2), dtype=np.int64),
            np.zeros((num_kinds, 2), dtype=np.int64),
        )

    def advance(self, steps: int) -> bool:
        """Go on; return whether the search has ended."""
        return bool(
            self.kernel.bound_steps(
                *self.graphs, self.order, self.directed, *self.work, self.best, self.state,
                *self.tables, steps,
            )
        )  # fmt: skip

    def best_or(self, mapping: IntArray) -> IntArray:
        """Best mapping of this search, or the given one if none is better."""
        return mapping if self.best[0] < 0 else self.best

    @property
    def cost(self) -> int:
        return int(self.state[self.kernel.BEST])

    @property
    def visited(self) -> int:
        return int(self.state[self.kernel.VISITED])


def _order(graph: Graph) -> IntArray:
    """Nodes in an order in which each has many edges to those before it."""
    linked = (graph.label_matrix() != 0) | (graph.label_matrix().T != 0)
    degrees = linked.sum(axis=1)
    order: list[int] = []
    while len(order) < graph.num_nodes:
        known = linked[:, order].sum(axis=1) * (graph.num_nodes + 1) + degrees
        known[order] = -1
        order.append(int(known.argmax()))
    return np.array(order, dtype=np.int64)
