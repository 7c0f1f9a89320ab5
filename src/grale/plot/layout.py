"""Where to draw the nodes of a graph (not in the paper; its figures need a layout).

Positions minimise the stress between distances in the drawing and shortest paths. Of several
starts, the one with the fewest crossings and overlaps is kept. Along a sequence of graphs,
nodes are pulled to where they were, so that frames do not jump.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grale.graphs.graph import Graph
from grale.plot.planar import planar_layout
from grale.plot.stress import FloatArray, count_flaws, ideal_distances, majorise, spread, stress

NUM_RANDOM_STARTS = 6
FLAW_COST = 0.05  # stress that one crossing is worth
MIN_GAP = 0.45  # least distance of two nodes, in edge lengths
PULL_ALONG = 0.5  # how strongly a node keeps its place from frame to frame
PULL_FIXED = 1e4  # strong enough to count as fixed


def layout(graph: Graph, seed: int = 0, start: ArrayLike | None = None) -> FloatArray:
    """Place the nodes of one graph in the square [-1, 1]^2.

    Parameters
    ----------
    graph
        Any graph; meant for up to about 32 nodes. Edge directions are ignored.
    seed
        Fixes the random starts; the same seed gives the same positions.
    start
        Positions (n, 2) to start from, at any scale; the result is turned to match them.
        By default, the longest side is horizontal.

    Returns
    -------
    Positions (n, 2).

    >>> layout(Graph([0, 0], [(0, 1)])).round().astype(int).tolist()
    [[-1, 0], [1, 0]]
    """
    if start is None:
        return into_square(_free_layout(graph, seed))
    ideal = ideal_distances(graph)
    given = _positions(start, graph.num_nodes, "start")
    given = into_square(given) * max(ideal.max(), 1.0) / 2
    points = spread(graph, majorise(ideal, _jittered(given, seed)), MIN_GAP)
    return into_square(align(points, given))


def layout_along(graphs: Sequence[Graph], mappings: Sequence[ArrayLike]) -> list[FloatArray]:
    """Place the nodes of a sequence of graphs so that corresponding nodes stay near.

    Parameters
    ----------
    graphs
        The frames, in order.
    mappings
        One per step: ``mappings[t][i]`` is the node of ``graphs[t]`` that node i of
        ``graphs[t + 1]`` corresponds to, or -1 if it is new.

    Returns
    -------
    Positions (n, 2) per graph, all on one scale within [-1, 1]^2.
    """
    if len(mappings) != max(len(graphs) - 1, 0):
        raise ValueError(f"{len(graphs)} graphs need one mapping per step, got {len(mappings)}")
    if not graphs:
        return []
    frames = [_free_layout(graphs[0], seed=0)]
    for step, (graph, mapping) in enumerate(zip(graphs[1:], mappings)):
        origin = checked_mapping(mapping, graph.num_nodes, len(frames[-1]), f"mappings[{step}]")
        frames.append(
            _next_frame(graph, np.where((origin >= 0)[:, None], frames[-1][origin], np.nan))
        )
    together = into_square(np.concatenate(frames))
    return np.split(together, np.cumsum([len(frame) for frame in frames])[:-1])


def layout_around(graph: Graph, known: FloatArray) -> FloatArray:
    """Place the remaining nodes of a graph whose other nodes already have a place.

    Rows of `known` (n, 2) that are NaN are filled in; the others are returned as they are.
    The result may leave [-1, 1]^2.
    """
    is_known = np.asarray(np.isfinite(known).all(axis=1))
    if not is_known.any():
        return into_square(_free_layout(graph, seed=0))
    if is_known.all():
        return known.copy()
    ideal = ideal_distances(graph) * _edge_length(graph, known)
    gap = MIN_GAP * ideal[ideal > 0].min()
    start = _filled(graph, known, reach=gap)
    points = majorise(ideal, start, start, np.where(is_known, PULL_FIXED, 0.0))
    points[is_known] = known[is_known]
    return spread(graph, points, gap, is_fixed=is_known)


def checked_mapping(mapping: ArrayLike, num_from: int, num_to: int, name: str) -> NDArray[np.int64]:
    """Return the mapping as integers; raise for a wrong length, an unknown or a repeated node."""
    nodes = np.asarray(mapping)
    if nodes.shape != (num_from,) or not (np.issubdtype(nodes.dtype, np.integer) or num_from == 0):
        raise ValueError(
            f"{name} must hold one integer for each of {num_from} nodes, "
            f"got shape {nodes.shape} of {nodes.dtype}"
        )
    if nodes.min() < -1 or nodes.max() >= num_to:
        worst = nodes.min() if nodes.min() < -1 else nodes.max()
        raise ValueError(f"{name} names node {worst}; expected -1 (none) or 0..{num_to - 1}")
    hit, times = np.unique(nodes[nodes >= 0], return_counts=True)
    if (times > 1).any():
        raise ValueError(f"{name} names node {hit[times.argmax()]} more than once; keep one")
    return nodes.astype(np.int64)


def align(points: FloatArray, reference: FloatArray) -> FloatArray:
    """Turn, mirror and shift `points` onto `reference` (Procrustes), over its finite rows."""
    shared = np.isfinite(reference).all(axis=1)
    if not shared.any():
        return points
    centre, goal = points[shared].mean(axis=0), reference[shared].mean(axis=0)
    left, _, right = np.linalg.svd((points[shared] - centre).T @ (reference[shared] - goal))
    return (points - centre) @ (left @ right) + goal


def into_square(points: FloatArray) -> FloatArray:
    """Shift and scale, both axes equally, so that the points just fit in [-1, 1]^2."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = (high - low).max() / 2
    return np.clip((points - (low + high) / 2) / (half if half > 0 else 1.0), -1.0, 1.0)


def _free_layout(graph: Graph, seed: int) -> FloatArray:
    """Best of several starts, in edge lengths, longest side horizontal."""
    ideal = ideal_distances(graph)
    if graph.num_nodes == 1:
        return np.zeros((1, 2))
    random = np.random.default_rng(seed)
    width = ideal.max() / 2
    starts = [_jittered(_classical_scaling(ideal), seed)]
    starts += [random.normal(size=start.shape) * width for start in starts * NUM_RANDOM_STARTS]
    ends = [spread(graph, majorise(ideal, start), MIN_GAP) for start in starts]
    if (planar := planar_layout(graph, ideal)) is not None:
        ends.append(spread(graph, planar, MIN_GAP))
    return _upright(min(ends, key=lambda points: _badness(graph, ideal, points)))


def _next_frame(graph: Graph, previous: FloatArray) -> FloatArray:
    """Positions near `previous` (NaN rows: new nodes), in edge lengths."""
    is_old = np.isfinite(previous).all(axis=1)
    fresh = _free_layout(graph, seed=0)
    if not is_old.any():
        return fresh
    ideal = ideal_distances(graph)
    anchor = _filled(graph, previous, reach=MIN_GAP)
    pull = np.where(is_old, PULL_ALONG, 0.0)
    ends = [
        align(spread(graph, majorise(ideal, start, anchor, pull), MIN_GAP), previous)
        for start in (anchor, align(fresh, previous))
    ]
    return min(ends, key=lambda points: _badness(graph, ideal, points) + _drift(points, previous))


def _drift(points: FloatArray, previous: FloatArray) -> float:
    return float(np.nanmean(((points - previous) ** 2).sum(axis=1)))


def _badness(graph: Graph, ideal: FloatArray, points: FloatArray) -> float:
    return stress(ideal, points) + FLAW_COST * count_flaws(graph, points)


def _classical_scaling(ideal: FloatArray) -> FloatArray:
    """Torgerson's scaling: the plane that keeps most of the squared distances."""
    centring = np.eye(len(ideal)) - 1 / len(ideal)
    values, vectors = np.linalg.eigh(-0.5 * centring @ ideal**2 @ centring)
    return vectors[:, -2:] * np.sqrt(np.clip(values[-2:], 0, None))


def _jittered(points: FloatArray, seed: int) -> FloatArray:
    """Break ties: points that coincide or are on one line could not leave it otherwise."""
    return points + np.random.default_rng(seed).normal(scale=0.02, size=points.shape)


def _filled(graph: Graph, known: FloatArray, reach: float) -> FloatArray:
    """Known positions, and for the others one at distance `reach` from their neighbours' mean."""
    linked = graph.label_matrix() > 0
    linked = linked | linked.T
    is_known = np.isfinite(known).all(axis=1)
    points = known.copy()
    for node in np.flatnonzero(~is_known):
        near = linked[node] & is_known
        middle = known[near if near.any() else is_known].mean(axis=0)
        angle = 2.399963 * node  # golden angle: new nodes leave in different directions
        points[node] = middle + reach * np.array([np.cos(angle), np.sin(angle)])
    return points


def _edge_length(graph: Graph, known: FloatArray) -> float:
    """Typical length of an edge between known nodes; 0.5 if there is none."""
    ends = known[graph.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    lengths = lengths[np.isfinite(lengths)]
    return float(np.median(lengths)) if len(lengths) else 0.5


def _upright(points: FloatArray) -> FloatArray:
    """Longest direction horizontal, heavier tails to the right and up."""
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    turned = centred @ vectors[:, ::-1]
    skew = (turned**3).sum(axis=0)
    first = turned[0] * np.array([-1.0, -1.0])  # for symmetric layouts, node 0 goes lower left
    decider = np.where(np.abs(skew) > 1e-3, skew, first)
    return turned * np.where(decider < 0, -1.0, 1.0)


def _positions(values: ArrayLike, num_nodes: int, name: str) -> FloatArray:
    points = np.asarray(values, dtype=np.float64)
    if points.shape != (num_nodes, 2) or not np.isfinite(points).all():
        raise ValueError(
            f"{name} must be finite positions of shape ({num_nodes}, 2), got {points.shape}"
        )
    return points
