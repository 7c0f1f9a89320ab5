"""Exact isomorphism of labelled graphs (paper: appendix "Graph reconstruction metrics").

    Acc(G, G_hat) = 1[Edit(G, G_hat) = 0]

Edit = 0 means that some order of the nodes makes the two graphs equal. The test is exact, not
a search that may miss that order: colour refinement decides almost every pair, and VF2
(rustworkx) decides the rest.

The paper does not name its isomorphism test.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

import numpy as np
import rustworkx
from jaxtyping import Int64, UInt64

from grale.graphs.graph import Graph

# Odd 64-bit multipliers (splitmix64, golden ratio); products wrap around on purpose.
NODE_FACTOR = np.uint64(0x9E3779B97F4A7C15)
EDGE_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
MIX_FACTOR = np.uint64(0x94D049BB133111EB)
MIX_SHIFT = np.uint64(31)


def is_isomorphic(g1: Graph, g2: Graph) -> bool:
    """Say whether the graphs are equal up to the order of their nodes, labels included.

    Parameters
    ----------
    g1, g2
        Two graphs, both directed or both undirected.

    >>> path = Graph([0, 1, 0], edges=[(0, 1), (1, 2)])
    >>> is_isomorphic(path, path.permuted([1, 0, 2]))
    True
    >>> is_isomorphic(path, Graph([0, 0, 1], edges=[(0, 1), (1, 2)]))
    False
    """
    check_same_direction(g1, g2)
    if g1.num_nodes != g2.num_nodes or g1.num_edges != g2.num_edges:
        return False
    if g1 == g2:
        return True
    if not (
        _same_sorted(g1.node_labels, g2.node_labels)
        and _same_sorted(g1.edge_labels, g2.edge_labels)
    ):
        return False
    labels = np.stack([g1.node_labels, g2.node_labels])
    matrices = np.stack([g1.label_matrix(), g2.label_matrix()])
    colours = _refined_colours(labels, matrices)
    if not _same_sorted(colours[0], colours[1]):
        return False
    if _equal_in_order(labels, matrices, np.argsort(colours, axis=1)):
        return True
    if (np.diff(np.sort(colours[0])) != 0).all():
        return False  # all colours differ: only one order was possible
    return _vf2(g1, g2, matrices, colours)


def isomorphism_accuracy(targets: Sequence[Graph], predictions: Sequence[Graph | None]) -> float:
    """Share of predictions isomorphic to their target, in [0, 1] (paper: GI Acc.).

    Parameters
    ----------
    targets
        The true graphs; at least one.
    predictions
        One per target, in the same order; None where there is no prediction, which is wrong.

    >>> path = Graph([0, 1, 0], edges=[(0, 1), (1, 2)])
    >>> isomorphism_accuracy([path, path], [path.permuted([1, 0, 2]), None])
    0.5
    """
    if len(targets) != len(predictions):
        raise ValueError(
            f"{len(targets)} targets but {len(predictions)} predictions; give one each"
        )
    if len(targets) == 0:
        raise ValueError("accuracy of an empty list is undefined; give at least one target")
    correct = sum(
        prediction is not None and is_isomorphic(target, prediction)
        for target, prediction in zip(targets, predictions)
    )
    return correct / len(targets)


def check_same_direction(g1: Graph, g2: Graph) -> None:
    """Raise unless both graphs are directed or both undirected."""
    if g1.directed != g2.directed:
        raise ValueError(
            "both graphs must be directed or both undirected, "
            f"got directed={g1.directed} and directed={g2.directed}"
        )


def _same_sorted(first: np.ndarray, second: np.ndarray) -> bool:
    return bool((np.sort(first) == np.sort(second)).all())


def _mix(values: UInt64[np.ndarray, "*shape"]) -> UInt64[np.ndarray, "*shape"]:
    """Scramble 64-bit words, so that sums of scrambled words rarely collide."""
    values = (values ^ (values >> MIX_SHIFT)) * MIX_FACTOR
    return values ^ (values >> MIX_SHIFT)


def _refined_colours(
    labels: Int64[np.ndarray, "2 N"], matrices: Int64[np.ndarray, "2 N N"]
) -> UInt64[np.ndarray, "2 N"]:
    """Refine node colours by neighbours until stable, or until the two graphs differ.

    Nodes that some isomorphism maps to each other have the same colour. The converse may
    fail, by a hash collision for example, so equal colours prove nothing.
    """
    arcs = matrices.view(np.uint64) * EDGE_FACTOR
    pairs = arcs + _mix(arcs.swapaxes(1, 2))
    colours = _mix(labels.view(np.uint64) + NODE_FACTOR)
    num_colours = 0
    while True:
        messages = _mix(pairs + colours[:, None, :] * NODE_FACTOR)
        refined = _mix(colours + messages.sum(axis=2))
        first, second = np.sort(refined, axis=1)
        num_refined = 1 + int(np.count_nonzero(first[1:] != first[:-1]))
        if num_refined <= num_colours or num_refined == len(first) or (first != second).any():
            return refined
        colours, num_colours = refined, num_refined


def _equal_in_order(
    labels: Int64[np.ndarray, "2 N"],
    matrices: Int64[np.ndarray, "2 N N"],
    orders: Int64[np.ndarray, "2 N"],
) -> bool:
    """Say whether the graphs are equal when each lists its nodes in its own given order."""
    first, second = orders
    return bool(
        (labels[0][first] == labels[1][second]).all()
        and (matrices[0][np.ix_(first, first)] == matrices[1][np.ix_(second, second)]).all()
    )


def _vf2(
    g1: Graph,
    g2: Graph,
    matrices: Int64[np.ndarray, "2 N N"],
    colours: UInt64[np.ndarray, "2 N"],
) -> bool:
    """Search for an isomorphism that keeps labels, colours and ranks among twins."""
    one, other = (
        _rustworkx_graph(graph, matrix, colour)
        for graph, matrix, colour in zip((g1, g2), matrices, colours)
    )
    one_label = len(g1.edge_labels) == 0 or g1.edge_labels.min() == g1.edge_labels.max()
    edges = None if one_label else eq
    # both graphs are directed or neither is, which the types of rustworkx cannot express
    return rustworkx.is_isomorphic(one, other, eq, edges, id_order=False)  # type: ignore[arg-type]


def _rustworkx_graph(
    graph: Graph, matrix: Int64[np.ndarray, "N N"], colours: UInt64[np.ndarray, "N"]
) -> rustworkx.PyGraph | rustworkx.PyDiGraph:
    """Convert; the data of a node is its label, its colour and its rank among its twins."""
    ranks = _twin_ranks(graph.node_labels, matrix)
    converted = rustworkx.PyDiGraph() if graph.directed else rustworkx.PyGraph()
    converted.add_nodes_from(list(zip(graph.node_labels.tolist(), colours.tolist(), ranks)))
    sources, targets = graph.edges.T.tolist()
    converted.add_edges_from(list(zip(sources, targets, graph.edge_labels.tolist())))
    return converted


def _twin_ranks(labels: Int64[np.ndarray, "N"], matrix: Int64[np.ndarray, "N N"]) -> list[int]:
    """Count, for each node, its twins with a smaller index.

    Twins are nodes that can trade places without changing the graph: same label, same edges
    to all others. Any of them may come first, so ranking them loses no isomorphism, and keeps
    VF2 from trying all k! orders of k twins.
    """
    nodes = np.arange(len(labels))
    differs = (matrix[:, None] != matrix) | (matrix.T[:, None] != matrix.T)
    differs[nodes, :, nodes] = differs[:, nodes, nodes] = False
    is_twin = (labels[:, None] == labels) & (matrix == matrix.T) & ~differs.any(axis=2)
    ranks: list[int] = np.tril(is_twin, -1).sum(axis=1).tolist()
    return ranks
