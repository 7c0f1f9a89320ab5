"""Which node of one graph plays which node of another, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph, IntArray
from grale.metrics.edit_distance import Edit, edit_distance, edits


@dataclass(frozen=True)
class Matching:
    """A mapping between the nodes of two graphs, by any method."""

    g1: Graph
    g2: Graph
    mapping: IntArray
    """`mapping[i]` is the node of the second graph for node i of the first, or -1."""
    method: str
    is_optimal: bool = False
    """Whether it is proven that no mapping is cheaper."""
    seconds: float | None = None
    """How long it took, if measured."""
    scores: NDArray[np.float64] | None = None
    """Scores of a learned matcher for each pair of nodes, null nodes included."""

    @cached_property
    def edit_distance(self) -> int:
        """Edits that this mapping costs: an upper bound of the edit distance."""
        return edit_distance(self.g1, self.g2, self.mapping)

    @property
    def edits(self) -> list[Edit]:
        """The edits one by one; replaying them turns the first graph into the second."""
        return edits(self.g1, self.g2, self.mapping)
