"""What a graph is made of: arrays of labels, edges and features, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
Integers = Any  # whatever numpy reads as integers: lists, tuples, arrays, ranges


def as_integers(values: Integers, name: str) -> IntArray:
    """Whatever numpy reads as integers, as int64; anything else is an error."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype == np.bool_ or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be integers, got {array.dtype}")
    return np.array(array, dtype=np.int64)


def as_integer_list(values: Integers, name: str) -> IntArray:
    """The same, in one row."""
    array = as_integers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a flat list of integers, got shape {array.shape}")
    return array


def check_parts(nodes: IntArray, pairs: IntArray, labels: IntArray) -> None:
    """Raise unless labels and edges make a graph."""
    if len(nodes) == 0:
        raise ValueError("a graph needs at least one node, got an empty node_labels")
    if nodes.min() < 0:
        node = int(nodes.argmin())
        raise ValueError(f"node {node} has label {nodes[node]}; node labels count from 0")
    if len(labels) != len(pairs):
        raise ValueError(f"{len(pairs)} edges but {len(labels)} edge_labels; give one per edge")
    if len(pairs) == 0:
        return
    if labels.min() < 1:
        edge = int(labels.argmin())
        pair = tuple(pairs[edge].tolist())
        raise ValueError(
            f"edge {edge} {pair} has label {labels[edge]}; edge labels count from 1 (0 is no edge)"
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= len(nodes))).any(axis=1))
    if len(outside):
        pair = tuple(pairs[outside[0]].tolist())
        raise ValueError(
            f"edge {outside[0]} {pair} names a missing node; nodes are 0..{len(nodes) - 1}"
        )
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise ValueError(
            f"edge {loops[0]} is a self-loop on node {pairs[loops[0], 0]}; remove self-loops"
        )


def unique_edges(pairs: IntArray, labels: IntArray) -> IntArray:
    """Rows of the edges in order, each once; the same edge with two labels is an error."""
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    pairs, labels = pairs[order], labels[order]
    same = (pairs[1:] == pairs[:-1]).all(axis=1)
    clash = np.flatnonzero(same & (labels[1:] != labels[:-1]))
    if len(clash):
        pair = tuple(pairs[clash[0]].tolist())
        raise ValueError(
            f"edge {pair} is listed twice, with labels {labels[clash[0]]} and "
            f"{labels[clash[0] + 1]}; keep one"
        )
    keep = np.concatenate([[True], ~same]) if len(pairs) else np.zeros(0, dtype=bool)
    return np.asarray(order[keep], dtype=np.int64)


def as_features(values: Any, count: int, item: str) -> FloatArray | None:
    """Rows of floats, one per item."""
    if values is None:
        return None
    array = np.array(values, dtype=np.float32)
    if array.ndim == 1:
        array = array.reshape(count, -1) if count else array.reshape(0, 1)
    if array.ndim != 2 or len(array) != count:
        raise ValueError(f"{item}_features must be {count} rows of floats, got {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise ValueError(f"{item} {bad[0]} has a feature that is not finite")
    return array


def equal_features(first: FloatArray | None, second: FloatArray | None) -> bool:
    """Whether both are the same, or there are none."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)
