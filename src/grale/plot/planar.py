"""Drawings of planar graphs without crossings (not in the paper; COLORING graphs are planar).

Tutte's theorem: put the outer face of a triangulated planar graph on a circle and every
other node at the mean of its neighbours; then no edges cross. From there the stress is
lowered, without any move that would add a crossing or an overlap.
"""

from __future__ import annotations

import networkx
import numpy as np
from networkx.algorithms.planar_drawing import triangulate_embedding

from grale.graphs.graph import Graph
from grale.plot.stress import FloatArray, count_flaws, majorise

NUM_ROUNDS = 40
STEPS = (1.0, 0.4, 0.15)  # fractions of a refused move that are tried instead


def planar_layout(graph: Graph, ideal: FloatArray) -> FloatArray | None:
    """Positions (n, 2) of low stress whose edges do not cross; None if the graph is not planar.

    `ideal` holds the wanted distances (n, n).
    """
    start = _tutte_drawing(graph)
    if start is None:
        return None
    size = np.linalg.norm(start[:, None] - start[None], axis=-1).sum()
    points = start * (ideal.sum() / size)
    flaws = count_flaws(graph, points)
    for _ in range(NUM_ROUNDS):
        goal = majorise(ideal, points, num_sweeps=2)
        before = points
        if (reached := count_flaws(graph, goal)) <= flaws:
            points, flaws = goal, reached
        else:
            points, flaws = _move_one_by_one(graph, points, goal, flaws)
        if np.abs(points - before).max() < 1e-3:
            break
    return points


def _move_one_by_one(
    graph: Graph, points: FloatArray, goal: FloatArray, flaws: int
) -> tuple[FloatArray, int]:
    """Move each node as far towards its goal as possible without adding a flaw."""
    points = points.copy()
    for node in range(len(points)):
        home = points[node].copy()
        for step in STEPS:
            points[node] = home + step * (goal[node] - home)
            if (reached := count_flaws(graph, points)) <= flaws:
                flaws = reached
                break
        else:
            points[node] = home
    return points, flaws


def _tutte_drawing(graph: Graph) -> FloatArray | None:
    """Solve Tutte's equations for a triangulation of the graph, outer face on a unit circle."""
    if graph.num_nodes < 4:
        return None
    plain = networkx.empty_graph(graph.num_nodes)
    plain.add_edges_from(graph.edges.tolist())
    is_planar, embedding = networkx.check_planarity(plain)
    if not is_planar:
        return None
    triangulated, outer = triangulate_embedding(embedding, fully_triangulate=False)
    linked = networkx.to_numpy_array(triangulated, nodelist=range(graph.num_nodes))
    laplacian = np.diag(linked.sum(axis=1)) - linked
    angle = 2 * np.pi * np.arange(len(outer)) / len(outer)
    points = np.zeros((graph.num_nodes, 2))
    points[outer] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inner = np.setdiff1d(np.arange(graph.num_nodes), outer)
    pulled = -laplacian[np.ix_(inner, outer)] @ points[outer]
    points[inner] = np.linalg.solve(laplacian[np.ix_(inner, inner)], pulled)
    return points
