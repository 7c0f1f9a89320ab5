"""Graduated assignment without learning: `grale.transport.rounds`, starting from a uniform plan.

A little noise on the costs separates nodes that look alike, which a plan would otherwise split
between two partners. `model.matcher.rounds` is the same with learned scores (decisions/008).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float64
from scipy.optimize import linear_sum_assignment

from grale.graphs.graph import Graph, IntArray
from grale.matching.problem import Problem, pose
from grale.matching.tabu import layers

ROUNDS, SWEEPS = 16, 8
LAST_WEIGHT = 4.0
NOISE, SEED = 0.1, 0  # in edits


def graduated_start(problem: Problem) -> IntArray:
    """Permutation given by the plan of the last round."""
    return linear_sum_assignment(_scores(problem), maximize=True)[1].astype(np.int64)


@lru_cache(maxsize=1)
def compile_graduated() -> None:
    """Load or compile the inner loop now, so that it does not count against a time limit."""
    _scores(pose(Graph([0, 1], [(0, 1)]), Graph([2, 2])))


def _scores(problem: Problem) -> Float64[np.ndarray, "N N"]:
    """Scores of the last round."""
    from grale.transport.rounds import graduate  # needs numba

    classes, codes = np.unique(np.stack([problem.matrix1, problem.matrix2]), return_inverse=True)
    sides = codes.reshape(2, problem.size, problem.size)
    first, second = (layers(side, problem.directed) for side in sides)
    unlike = (problem.labels1[:, None] != problem.labels2).astype(np.float64)
    unlike += NOISE * np.random.default_rng(SEED).random(unlike.shape)
    batch = (array[None] for array in (np.zeros_like(unlike), unlike, first, second))
    return graduate(*batch, len(classes), ROUNDS, SWEEPS, LAST_WEIGHT)[0]
