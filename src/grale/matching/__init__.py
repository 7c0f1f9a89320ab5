"""Matching two graphs: one interface for the learned matcher and for solvers.

from grale.matching import solve
solve(g1, g2, method="tabu", time_limit=0.01)
"""

from grale.matching.result import Matching
from grale.matching.solve import METHODS, solve

__all__ = ["METHODS", "Matching", "solve"]
