"""Graduated assignment (Gold and Rangarajan 1996): plans that get sharper, compiled by numba.

    T    = Sinkhorn(exp(S))
    D_ij = nodes_ij + sum_kl T_kl 1[A_ik != B_jl]
    S    = scores - weight D

D_ij is the cost of matching i to j if all other nodes follow T; its weight grows from round to
round.

Departures: not in the paper (decisions/008).
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from grale.compiled import compiled

SMALLEST = 1e-300  # lower limit of a divisor


@compiled()
@no_type_check  # numba compiles it: type checkers must not wrap it
def graduate(scores, nodes, first, second, num_classes, rounds, sweeps, last_weight):
    """S of the last round for each pair of a batch.

    `scores` and `nodes` are (B, N, N); `first` and `second` hold the codes of edges, 0 to
    num_classes - 1, as (B, layers, N, N): one layer, or two if edges are directed.
    """
    found = scores.copy()
    size = scores.shape[1]
    kernel, costs = np.empty((size, size)), np.empty((size, size))
    reached = np.empty((size, num_classes, size))
    for row in range(len(scores)):
        for number in range(1, rounds + 1):
            _project(found[row], kernel, sweeps)
            costs[:] = nodes[row]
            for layer in range(first.shape[1]):
                _add_costs(costs, kernel, first[row, layer], second[row, layer], reached)
            found[row] = scores[row] - last_weight * number / rounds * costs
    return found


@compiled(fastmath={"reassoc", "contract"})
@no_type_check
def _project(scores, plan, sweeps):
    """Plan of the scores: scale columns, then rows, `sweeps` times."""
    size = len(scores)
    peak = scores.max()
    for i in range(size):
        for j in range(size):
            plan[i, j] = np.exp(scores[i, j] - peak)
    rows, columns = np.ones(size), np.empty(size)
    for _ in range(sweeps):
        columns[:] = SMALLEST
        for i in range(size):
            for j in range(size):
                columns[j] += plan[i, j] * rows[i]
        for j in range(size):
            columns[j] = 1.0 / columns[j]
        for i in range(size):
            total = SMALLEST
            for j in range(size):
                total += plan[i, j] * columns[j]
            rows[i] = 1.0 / total
    _scale(plan, rows, columns)


@compiled()
@no_type_check
def _scale(plan, rows, columns):
    """Scale both sides one after the other, since the product of two scales may be infinite."""
    for i in range(len(plan)):
        for j in range(len(plan)):
            plan[i, j] = (plan[i, j] * rows[i]) * columns[j]


@compiled()
@no_type_check
def _add_costs(costs, plan, first, second, reached):
    """Add sum_kl T_kl 1[A_ik != B_jl] for a plan whose rows sum to one.

    reached[k, c, j] is the mass of k on those l with B_jl = c.
    """
    size = len(costs)
    reached[:] = 0.0
    for k in range(size):
        for j in range(size):
            for m in range(size):
                reached[k, second[j, m], j] += plan[k, m]
    for i in range(size):
        for k in range(size):
            code = first[i, k]
            for j in range(size):
                costs[i, j] += 1.0 - reached[k, code, j]
