"""Tabu search: improve a mapping within a budget.

The search never returns a worse mapping than it started with. It stops as soon as the cost equals
a lower bound: the mapping is then proven optimal.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from grale.graphs.graph import Graph, IntArray
from grale.matching.problem import Problem, lower_bound, pose
from grale.metrics.edit_distance import edit_distance

CHUNK = 50  # trades between two looks at the clock, and the fewest that are made
STEPS_PER_NODE = 20  # if no limit is given
SEED = 0x2545F491


class TabuResult(NamedTuple):
    """The best permutation found."""

    permutation: IntArray
    edit_distance: int
    steps: int
    """Trades made."""


@lru_cache(maxsize=1)
def compile_tabu() -> None:
    """Load or compile the inner loop now, so that it does not count against a time limit."""
    from grale.matching import tabu_kernel  # needs numba

    problem = pose(Graph([0, 1], [(0, 1)]), Graph([2, 2]))
    start = np.arange(2)
    state = np.array([0, 3, 3, SEED], dtype=np.int64)
    tabu_kernel.tabu_steps(*_begin(problem, start), start, state, 1)


def tabu_search(
    problem: Problem, start: IntArray, time_limit: float | None = None, steps: int | None = None
) -> TabuResult:
    """Search from a permutation for at most `time_limit` seconds and `steps` trades."""
    from grale.matching import tabu_kernel  # needs numba

    compile_tabu()
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    if steps is None:
        steps = STEPS_PER_NODE * problem.size if deadline is None else np.iinfo(np.int64).max
    cost = edit_distance(problem.g1, problem.g2, problem.mapping(start))
    least = lower_bound(problem.g1, problem.g2)
    state = np.array([0, cost, cost, SEED], dtype=np.int64)
    best = start.copy()
    if cost > least and steps > 0:
        search = _begin(problem, start)
        while state[tabu_kernel.BEST] > least and state[tabu_kernel.STEP] < steps:
            chunk = min(CHUNK, steps - int(state[tabu_kernel.STEP]))
            tabu_kernel.tabu_steps(*search, best, state, chunk)
            if deadline is not None and time.perf_counter() >= deadline:
                break
    return TabuResult(best, int(state[tabu_kernel.BEST]), int(state[tabu_kernel.STEP]))


def _begin(problem: Problem, start: IntArray) -> tuple[Int64[np.ndarray, "..."], ...]:
    """Arrays of the search: both graphs (the second in the order of the partners), x, p, tabu."""
    from grale.matching import tabu_kernel  # needs numba

    a = layers(problem.matrix1, problem.directed)
    b = layers(problem.matrix2[np.ix_(start, start)], problem.directed)
    labels_a, labels_b = problem.labels1, problem.labels2[start]
    x = np.empty((problem.size, problem.size), dtype=np.int64)
    tabu_kernel.row_differences(a, b, labels_a, labels_b, x)
    return a, b, labels_a, labels_b, x, start.copy(), np.zeros_like(x)


def layers(matrix: Int64[np.ndarray, "N N"], directed: bool) -> Int64[np.ndarray, "L N N"]:
    """Stack the rows and, if directed, the columns as layers of one array."""
    return np.stack([matrix, matrix.T] if directed else [matrix])
