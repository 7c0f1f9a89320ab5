"""One call for every way to match two graphs (paper: table on graph matching).

    grale         the matcher of a model
    grale+tabu    the same, then tabu search until the time limit
    grale+beam    beam search guided by the matcher's scores
    tabu          tabu search from a linear assignment; needs no model
    beam          beam search guided by the costs of that assignment
    graduated     Sinkhorn plans that get sharper: half a millisecond, no model
    exact         branch and bound: the edit distance itself, if time allows
    sm, rrwm, ipfp, astar, greedy-astar   from pygmtools

Departures: only the first and the last line are in the paper.
"""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

from grale.graphs.graph import Graph, IntArray
from grale.graphs.space import GraphSpace
from grale.matching.beam import beam_search
from grale.matching.exact import branch_and_bound, compile_exact
from grale.matching.graduated import compile_graduated, graduated_start
from grale.matching.peers import SOLVERS, find_pygmtools, solve_by_peer, start_worker
from grale.matching.problem import Problem, assignment_cost, assignment_start, lower_bound, pose
from grale.matching.result import Matching
from grale.matching.tabu import tabu_search
from grale.metrics.edit_distance import edit_distance
from grale.metrics.isomorphism import check_same_direction

SCORE_PER_EDIT = 5.0  # log-scores of the matcher that weigh as much as one edit
METHODS = ("grale", "grale+tabu", "grale+beam", "tabu", "beam", "graduated", "exact", *SOLVERS)
FORMER_NAMES = {"refine": "tabu", "grale+refine": "grale+tabu"}


@runtime_checkable
class LearnedMatcher(Protocol):
    """A model that matches the nodes of two graphs."""

    space: GraphSpace

    def match(self, first: Graph, second: Graph, tries: int = 1) -> Matching:
        """Match two graphs; keep the best of `tries` draws of the noise."""


def solve(
    g1: Graph,
    g2: Graph,
    method: str = "tabu",
    time_limit: float | None = None,
    model: LearnedMatcher | None = None,
    tries: int = 1,
) -> Matching:
    """Match two graphs.

    Parameters
    ----------
    g1, g2
        Two graphs, both directed or both undirected.
    method
        One of METHODS; see the top of this file. "refine" is a former name of "tabu".
    time_limit
        Seconds. Tabu search and "exact" then return the best mapping so far; solvers of pygmtools
        raise TimeoutError. Without a limit, tabu search makes twenty trades per node.
    model
        For "grale", "grale+tabu" and "grale+beam".
    tries
        How many draws of the noise the model matches under; the cheapest mapping is kept.

    >>> found = solve(Graph([0, 1], [(0, 1)]), Graph([1, 0, 0], [(0, 1)]), "exact")
    >>> found.edit_distance, found.is_optimal, found.mapping.tolist()
    (1, True, [1, 0])
    """
    method = method_called(method)
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be above 0 seconds or None, got {time_limit}")
    check_same_direction(g1, g2)
    if method not in SOLVERS:
        compile_exact()
        if method == "graduated" or model is not None:
            compile_graduated()
    elif time_limit is not None:
        find_pygmtools(method)
        start_worker()
    begin = time.perf_counter()
    mapping, proven = _mapping(g1, g2, method, time_limit, model, tries)
    seconds = time.perf_counter() - begin
    proven = proven or edit_distance(g1, g2, mapping) == lower_bound(g1, g2)
    return Matching(g1, g2, mapping, method, proven, seconds)


def method_called(name: str) -> str:
    """Return the method of that name, present or former, or raise."""
    method = FORMER_NAMES.get(name, name)
    if method not in METHODS:
        raise ValueError(f"method={name!r}; expected one of {', '.join(METHODS)}")
    return method


def _mapping(
    g1: Graph,
    g2: Graph,
    method: str,
    time_limit: float | None,
    model: LearnedMatcher | None,
    noise_draws: int,
) -> tuple[IntArray, bool]:
    """Mapping, and whether the method proves it optimal."""
    if method == "exact":
        best = branch_and_bound(g1, g2, time_limit)
        return best.mapping, best.is_optimal
    if method in SOLVERS:
        return solve_by_peer(g1, g2, method, time_limit), False
    problem = pose(g1, g2)
    if method == "beam":
        return problem.mapping(beam_search(problem, assignment_cost(problem))), False
    if method == "graduated":
        return problem.mapping(graduated_start(problem)), False
    if method == "tabu":
        found = tabu_search(problem, assignment_start(problem), time_limit)
        return problem.mapping(found.permutation), False
    if model is None:
        raise ValueError(f"method={method!r} needs a model: solve(..., model=grale.load(NAME))")
    for side, graph in (("first", g1), ("second", g2)):
        reason = model.space.why_not(graph)
        if reason is not None:
            raise ValueError(f"the {side} graph {reason}; method='tabu' needs no model")
    match = model.match(g1, g2, noise_draws)
    if method == "grale+beam":
        return problem.mapping(_better(problem, match)), False
    if method == "grale+tabu":
        found = tabu_search(problem, problem.permutation(match.mapping), time_limit)
        return problem.mapping(found.permutation), False
    return match.mapping, False


def _better(problem: Problem, match: Matching) -> IntArray:
    """Mapping by beam search with the matcher's scores, or the learned one if it is better."""
    if match.scores is None:
        raise ValueError("method='grale+beam' needs a matcher that gives scores")
    found = beam_search(problem, -match.scores / SCORE_PER_EDIT)
    cost = edit_distance(problem.g1, problem.g2, problem.mapping(found))
    return found if cost < match.edit_distance else problem.permutation(match.mapping)
