"""Stress majorisation of node positions (not in the paper; its figures need a layout).

    stress(x) = sum_i<j  w_ij (|x_i - x_j| - d_ij)^2  +  sum_i pull_i |x_i - anchor_i|^2

with d_ij the shortest path and w_ij = d_ij^-2. Each sweep (the Guttman transform of the
SMACOF algorithm) minimises a quadratic bound of the stress, so the stress never rises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from grale.graphs.graph import Graph

FloatArray = NDArray[np.float64]

COMPONENT_GAP = 1.0  # space left between two components, in edges
COINCIDENT = 1e-9  # closer than this, two points have no direction between them
NUM_PUSHES = 50  # enough for 32 nodes to come apart


def ideal_distances(graph: Graph) -> FloatArray:
    """Wanted distance of each pair of nodes: the shortest path, edge directions ignored.

    Two components are kept apart by half the diameter of each plus a gap.
    """
    linked = graph.label_matrix() > 0
    linked = linked | linked.T
    paths = shortest_path(linked.astype(np.float64), directed=False, unweighted=True)
    num_parts, part = connected_components(linked, directed=False)
    if num_parts == 1:
        return paths
    reach = np.array([paths[np.ix_(part == k, part == k)].max() for k in range(num_parts)])
    apart = (reach[part][:, None] + reach[part][None, :]) / 2 + COMPONENT_GAP
    return np.where(np.isfinite(paths), paths, apart)


def stress(ideal: FloatArray, points: FloatArray) -> float:
    """Mean squared relative error of the distances, over pairs of nodes."""
    above = np.triu_indices(len(points), k=1)
    if not len(above[0]):
        return 0.0
    distance = np.linalg.norm(points[above[0]] - points[above[1]], axis=1)
    return float(np.mean((distance / ideal[above] - 1) ** 2))


def majorise(
    ideal: FloatArray,
    start: FloatArray,
    anchor: FloatArray | None = None,
    pull: FloatArray | None = None,
    num_sweeps: int = 200,
    tolerance: float = 1e-5,
) -> FloatArray:
    """Lower the stress of `start` until a sweep moves no node by more than `tolerance`.

    Parameters
    ----------
    ideal
        Wanted distances (n, n), positive off the diagonal.
    start
        Positions (n, 2) to start from; not modified.
    anchor, pull
        Positions (n, 2) that nodes are pulled to, and how strongly (n,), relative to all
        the other forces on a typical node. By default, nodes are free.
    num_sweeps
        At most this many sweeps.
    tolerance
        In edge lengths.
    """
    num_nodes = len(ideal)
    weight = 1 / (ideal + np.eye(num_nodes)) ** 2 - np.eye(num_nodes)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    drawn = np.zeros_like(start)
    if anchor is not None and pull is not None:
        force = pull * np.trace(laplacian) / num_nodes
        laplacian = laplacian + np.diag(force)
        drawn = force[:, None] * np.where(pull[:, None] > 0, anchor, 0)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    points = start
    for _ in range(num_sweeps):
        distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
        ratio = weight * ideal / np.maximum(distance, COINCIDENT)
        target = ratio.sum(axis=1)[:, None] * points - ratio @ points
        moved = inverse @ (target + drawn)
        step = np.abs(moved - points).max()
        points = moved
        if step < tolerance:
            break
    return points


def spread(
    graph: Graph, points: FloatArray, gap: float, is_fixed: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Push apart nodes closer than `gap`, and push nodes away from the edges of other nodes.

    Nodes marked fixed stay where they are.
    """
    is_free = np.ones(len(points)) if is_fixed is None else (~is_fixed).astype(np.float64)
    angle = 2.399963 * np.arange(len(points))  # golden angle: no two directions agree
    tie_break = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for _ in range(NUM_PUSHES):
        offset = points[:, None] - points[None]
        ties = (tie_break[:, None] - tie_break[None]) * COINCIDENT
        offset = np.where((offset == 0).all(axis=-1, keepdims=True), ties, offset)
        from_nodes = _shove(offset, gap, np.eye(len(points), dtype=bool)).sum(axis=1)
        is_own = (graph.edges[:, :, None] == np.arange(len(points))).any(axis=1)
        from_edges = _shove(edge_offsets(graph, points), gap / 2, is_own).sum(axis=0)
        push = 0.5 * is_free[:, None] * (from_nodes + from_edges)
        if np.abs(push).max() < gap / 200:
            break
        points = points + push
    return points


def _shove(offset: FloatArray, gap: float, is_exempt: NDArray[np.bool_]) -> FloatArray:
    """Vectors along `offset` whose length is what it lacks to `gap`; zero where exempt."""
    distance = np.linalg.norm(offset, axis=-1, keepdims=True)
    lack = np.where(is_exempt[..., None], 0, np.clip(gap - distance, 0, None))
    return lack * offset / np.maximum(distance, COINCIDENT**2)


def edge_offsets(graph: Graph, points: FloatArray) -> FloatArray:
    """Vectors (edge, node, 2) from the nearest point of each edge to each node."""
    tail = points[graph.edges[:, 0]]
    along = points[graph.edges[:, 1]] - tail
    offset = points[None] - tail[:, None]
    length = np.maximum((along**2).sum(axis=1), COINCIDENT)
    fraction = np.clip((offset * along[:, None]).sum(axis=-1) / length[:, None], 0, 1)
    return offset - fraction[..., None] * along[:, None]


def count_flaws(graph: Graph, points: FloatArray, clearance: float = 0.2) -> int:
    """Count crossing pairs of edges plus twice the nodes within `clearance` of others' edges."""
    source, target = graph.edges[:, 0], graph.edges[:, 1]
    tail, along = points[source], points[target] - points[source]
    offset = points[None] - tail[:, None]  # edge, node, coordinate
    side = along[:, None, 0] * offset[..., 1] - along[:, None, 1] * offset[..., 0]
    straddles = side[:, source] * side[:, target] < 0
    crossings = int((straddles & straddles.T).sum()) // 2
    is_near = np.linalg.norm(edge_offsets(graph, points), axis=-1) < clearance
    is_near[np.arange(len(source)), source] = False
    is_near[np.arange(len(source)), target] = False
    return crossings + 2 * int(is_near.sum())
