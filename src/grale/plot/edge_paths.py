"""Paths of edges that do not pass behind other nodes.

A reconstruction is drawn at the positions of its input, so a wrong edge may pass straight through a
third node and look like two edges. Such an edge is bent, as little as necessary.
"""

from __future__ import annotations

import numpy as np

from grale.graphs.graph import IntArray
from grale.plot.stress import FloatArray

CLEARANCE = 1.25  # radii between a line and the centre of a disc it should not touch
BENDS = (0.12, 0.2, 0.3, 0.42)  # height of the arc, relative to its length
SAMPLES = 17  # points of a bent line


def edge_paths(points: FloatArray, edges: IntArray, radius: float) -> list[FloatArray]:
    """Return the points of each edge's line: its two ends, or those of an arc."""
    return [_path(points, int(source), int(target), radius) for source, target in edges]


def _path(points: FloatArray, source: int, target: int, radius: float) -> FloatArray:
    start, end = points[source], points[target]
    straight = np.stack([start, end])
    others = np.delete(points, [source, target], axis=0)
    needed = CLEARANCE * radius
    room = _clearance(straight, others)
    if room >= needed:
        return straight
    best = straight
    for bend in (sign * height for height in BENDS for sign in (1, -1)):
        path = _arc(start, end, bend)
        found = _clearance(path, others)
        if found > room + 1e-9:
            best, room = path, found
        if room >= needed:
            break
    return best


def _arc(start: FloatArray, end: FloatArray, bend: float) -> FloatArray:
    """Points of a parabola over the edge; its height is `bend` times its length."""
    along = end - start
    across = np.array([-along[1], along[0]])
    t = np.linspace(0, 1, SAMPLES)[:, None]
    return start + t * along + 4 * bend * t * (1 - t) * across


def _clearance(path: FloatArray, others: FloatArray) -> float:
    """Smallest distance between a line through points and any of the other points."""
    if len(others) == 0:
        return np.inf
    start, along = path[:-1, None], np.diff(path, axis=0)[:, None]
    length = np.maximum((along**2).sum(-1), 1e-12)
    t = (((others - start) * along).sum(-1) / length).clip(0, 1)[..., None]
    return float(np.linalg.norm(start + t * along - others, axis=-1).min())
