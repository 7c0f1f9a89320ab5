"""How well continuous features come back: errors in deviations, and equality within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import rustworkx
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic


def node_feature_errors(
    target: Graph, prediction: Graph, mapping: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Absolute errors over deviations, a row for each node of the target that has a partner.

    `mapping[i]` is the node of the prediction that plays node i, or -1. Deviations are those of the
    target's attributes.
    """
    known = target.attributes and target.attributes.node_features
    if target.node_features is None or prediction.node_features is None or not known:
        raise ValueError("both graphs need node features, and the target their deviations")
    partners = np.asarray(mapping)
    kept = np.flatnonzero(partners >= 0)
    wrong = np.abs(target.node_features[kept] - prediction.node_features[partners[kept]])
    return np.asarray(wrong / np.array(known.deviations), dtype=np.float64)


def is_isomorphic_within(g1: Graph, g2: Graph, tolerance: float) -> bool:
    """Whether some order of nodes makes labels and edges equal and features differ by little.

    Parameters
    ----------
    g1, g2
        Two graphs with the same features.
    tolerance
        Largest difference of a feature, in its own units.

    >>> first = Graph([0, 0], [(0, 1)], node_features=[[0.0], [1.0]])
    >>> second = Graph([0, 0], [(0, 1)], node_features=[[1.01], [0.0]])
    >>> is_isomorphic_within(first, second, 0.1), is_isomorphic_within(first, second, 0.001)
    (True, False)
    """
    if not is_isomorphic(g1, g2):
        return False
    return bool(
        rustworkx.is_isomorphic(
            _with_rows(g1),
            _with_rows(g2),
            node_matcher=lambda a, b: _close(a, b, tolerance),
            edge_matcher=lambda a, b: _close(a, b, tolerance),
        )
    )


Carried = tuple[int, NDArray[np.float32] | None]


def _with_rows(graph: Graph) -> Any:
    """Labels and features on the nodes and edges of a rustworkx graph."""
    made = rustworkx.PyDiGraph() if graph.directed else rustworkx.PyGraph()
    made.add_nodes_from(_carried(graph.node_labels, graph.node_features))
    rows = _carried(graph.edge_labels, graph.edge_features)
    made.add_edges_from([(a, b, row) for (a, b), row in zip(graph.edges.tolist(), rows)])
    return made


def _carried(labels: NDArray[np.int64], rows: NDArray[np.float32] | None) -> list[Carried]:
    features = [None] * len(labels) if rows is None else list(rows)
    return list(zip(labels.tolist(), features))


def _close(first: Carried, second: Carried, tolerance: float) -> bool:
    (label, row), (other, other_row) = first, second
    if label != other:
        return False
    if row is None or other_row is None:
        return row is other_row
    return bool((np.abs(row - other_row) <= tolerance).all())
