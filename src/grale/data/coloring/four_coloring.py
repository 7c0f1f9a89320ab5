"""Random proper colourings with four colours (paper: appendix "Datasets", COLORING).

Nodes are visited in order, and each takes a colour at random among those that no coloured
neighbour has. When none is left, all colours are drawn again, as in Any2Graph.

Departures: after `MAX_RESTARTS` dead ends the search is exact, so that it always ends. If every
cell is in one piece, the graph is planar and has a colouring. If the pixels cut a cell in two (one
image in a thousand), it may have none, and the answer is -1.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int8

NUM_COLORS = 4
# On COLORING 20 half of the attempts fail, but never a thousand in a row in 30,000 graphs.
MAX_RESTARTS = 1000
COLORINGS_PER_ROUND = 256  # attempts made together; enough to hide the cost of calling numpy
NO_COLOR = -1


def random_four_coloring(
    adjacency: Bool[np.ndarray, "B N N"], generator: np.random.Generator
) -> Int8[np.ndarray, "B N"]:
    """Colour each graph with 0..3, so that no edge joins two nodes of the same colour.

    Parameters
    ----------
    adjacency
        Symmetric, False on the diagonal. Padded nodes have no neighbours, but also get a colour.
    generator
        Source of the colours.

    Returns
    -------
    colors
        One row per graph; a row of -1 for a graph that has no such colouring.
    """
    colors = np.full(adjacency.shape[:2], NO_COLOR, dtype=np.int8)
    pending, num_restarts = np.arange(len(adjacency)), 0
    while len(pending) and num_restarts < MAX_RESTARTS:
        num_attempts = max(1, COLORINGS_PER_ROUND // len(pending))
        attempts = _greedy_colorings(adjacency[pending], num_attempts, generator)
        is_proper = (attempts != NO_COLOR).all(axis=2)
        first = is_proper.argmax(axis=1)
        colors[pending] = attempts[np.arange(len(pending)), first]
        pending = pending[~is_proper.any(axis=1)]
        num_restarts += num_attempts
    for graph in pending:
        colors[graph] = exact_four_coloring(adjacency[graph], generator)
    return colors


def _greedy_colorings(
    adjacency: Bool[np.ndarray, "B N N"], num_attempts: int, generator: np.random.Generator
) -> Int8[np.ndarray, "B A N"]:
    """Colour the nodes in order, `num_attempts` times for each graph; -1 marks a dead end."""
    block, num_nodes = len(adjacency) * num_attempts, adjacency.shape[1]
    neighbors = np.repeat(adjacency, num_attempts, axis=0)
    attempts = np.arange(block)
    preference = generator.random((block, num_nodes, NUM_COLORS), dtype=np.float32)
    is_taken = np.zeros((block, NUM_COLORS, num_nodes), dtype=bool)
    colors = np.empty((block, num_nodes), dtype=np.int8)
    for node in range(num_nodes):
        color = np.where(is_taken[:, :, node], -1, preference[:, node]).argmax(axis=1)
        is_stuck = is_taken[attempts, color, node]
        colors[:, node] = np.where(is_stuck, NO_COLOR, color)
        is_taken[attempts, color] |= neighbors[:, node]
    return colors.reshape(-1, num_attempts, num_nodes)


def exact_four_coloring(
    adjacency: Bool[np.ndarray, "N N"], generator: np.random.Generator
) -> Int8[np.ndarray, "N"]:
    """Search by backtracking, the most constrained node first; all -1 if no colouring exists.

    >>> complete = ~np.eye(5, dtype=bool)
    >>> exact_four_coloring(complete, np.random.default_rng(0)).tolist()
    [-1, -1, -1, -1, -1]
    """
    num_nodes = len(adjacency)
    preference = generator.random((num_nodes, NUM_COLORS)).argsort(axis=1, kind="stable")
    neighbors = [np.flatnonzero(row).tolist() for row in adjacency]
    colors = [NO_COLOR] * num_nodes

    def allowed(node: int) -> list[int]:
        taken = {colors[neighbor] for neighbor in neighbors[node]}
        return [color for color in preference[node].tolist() if color not in taken]

    def complete() -> bool:
        left = [node for node in range(num_nodes) if colors[node] == NO_COLOR]
        if not left:
            return True
        node = min(left, key=lambda i: (len(allowed(i)), -len(neighbors[i])))
        for color in allowed(node):
            colors[node] = color
            if complete():
                return True
        colors[node] = NO_COLOR
        return False

    complete()
    return np.array(colors, dtype=np.int8)
