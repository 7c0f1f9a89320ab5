"""Shortest paths by breadth-first search, compiled by numba (see `paths.py`)."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from grale.compiled import compiled


@compiled()
@no_type_check
def lengths(adjacency, node_mask, unreachable):
    """Number of edges on a shortest path between nodes of each graph."""
    num_graphs, width = node_mask.shape
    out = np.full((num_graphs, width, width), unreachable, np.int64)
    degrees = np.empty(width, np.int64)
    targets = np.empty((width, width), np.int64)
    queue = np.empty(width, np.int64)
    for graph in range(num_graphs):
        for node in range(width):
            degrees[node] = 0
            for other in range(width):
                if adjacency[graph, node, other] and node_mask[graph, other]:
                    targets[node, degrees[node]] = other
                    degrees[node] += 1
        for start in range(width):
            if not node_mask[graph, start]:
                continue
            row = out[graph, start]
            row[start], queue[0] = 0, start
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                for place in range(degrees[node]):
                    other = targets[node, place]
                    if row[other] == unreachable:
                        row[other] = row[node] + 1
                        queue[tail] = other
                        tail += 1
    return out
