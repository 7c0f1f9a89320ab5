"""Graduated assignment (Gold and Rangarajan 1996): Sinkhorn plans that get sharper, no learning.

    T   = Sinkhorn(exp(-weight D))
    D_ij = 1[label_i != label'_j] + sum_kl T_kl 1[A_ik != B_jl]

D_ij is what sending i to j costs if all others go by T; the weight of a unit of it grows from
round to round. A little noise on D tells nodes apart that look alike, which a plan would leave
half here, half there. `model.matcher.rounds` is the same with learned scores (decisions/008).

Departures: not in the paper.
"""

from __future__ import annotations

from functools import lru_cache
from typing import no_type_check

import numpy as np
from jaxtyping import Float64
from numba import njit
from scipy.optimize import linear_sum_assignment

from grale.graphs.graph import Graph, IntArray
from grale.matching.refine import layers
from grale.metrics.problem import Problem, pose

ROUNDS, SWEEPS = 16, 8
LAST_WEIGHT = 4.0
NOISE, SEED = 0.1, 0  # in edits
SMALLEST = 1e-30  # of a sum that is divided by


def graduated_start(problem: Problem) -> IntArray:
    """Permutation by the plan of the last round."""
    return linear_sum_assignment(_costs(problem))[1].astype(np.int64)


@lru_cache(maxsize=1)
def compile_graduated() -> None:
    """Load or compile the inner loop, so that no time limit pays for it."""
    _costs(pose(Graph([0, 1], [(0, 1)]), Graph([2, 2])))


def _costs(problem: Problem) -> Float64[np.ndarray, "N N"]:
    """D of the last round."""
    classes, codes = np.unique(np.stack([problem.matrix1, problem.matrix2]), return_inverse=True)
    sides = codes.reshape(2, problem.size, problem.size)
    first, second = (layers(side, problem.directed) for side in sides)
    unlike = (problem.labels1[:, None] != problem.labels2).astype(np.float64)
    unlike += NOISE * np.random.default_rng(SEED).random(unlike.shape)
    return _graduate(first, second, unlike, len(classes), ROUNDS, SWEEPS, LAST_WEIGHT)


@njit(cache=True)
@no_type_check  # arrays of numba, not to be wrapped by checkers
def _graduate(a, b, unlike, num_classes, rounds, sweeps, last_weight):
    """Costs of the last round; a and b hold codes of edges, in one layer, or two if directed."""
    n = len(unlike)
    costs = unlike.copy()
    plan = np.full((n, n), 1.0 / n)
    by_class = np.empty((n, n, num_classes))
    for number in range(1, rounds + 1):
        costs[:] = unlike
        for layer in range(len(a)):
            by_class[:] = 0.0
            for k in range(n):
                for j in range(n):
                    for m in range(n):
                        by_class[k, j, b[layer, j, m]] += plan[k, m]
            for i in range(n):
                for k in range(n):
                    code = a[layer, i, k]
                    for j in range(n):
                        costs[i, j] += 1.0 - by_class[k, j, code]
        if number == rounds:
            break
        weight = last_weight * number / rounds
        plan[:] = np.exp(-weight * (costs - costs.min()))
        _sweep(plan, sweeps)
    return costs


@njit(cache=True)
@no_type_check
def _sweep(plan, sweeps):
    """Scale columns, then rows, of the plan to one, so many times."""
    n = len(plan)
    for _ in range(sweeps):
        for j in range(n):
            total = SMALLEST
            for i in range(n):
                total += plan[i, j]
            for i in range(n):
                plan[i, j] /= total
        for i in range(n):
            total = SMALLEST
            for j in range(n):
                total += plan[i, j]
            for j in range(n):
                plan[i, j] /= total
