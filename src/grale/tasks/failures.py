"""Where reconstruction fails worst, and how symmetric those graphs are (paper: failure cases).

Departures: the error is the edit distance (an upper bound), including size errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.graphs.graph import Graph, IntArray
from grale.matching.local_search import edit_distance_bound
from grale.metrics.isomorphism import is_isomorphic
from grale.metrics.symmetry import orbit_sizes
from grale.model.autoencoder import GRALE

TWIN_STEPS = (0, 1, 3, 5, 7, 10, 10**9)


class Failure(NamedTuple):
    """A graph and its wrong reconstruction."""

    row: int
    """Place among the given graphs."""
    graph: Graph
    reconstruction: Graph
    mapping: NDArray[np.int64]
    """mapping[i] is the node of the reconstruction for node i, or -1."""
    edit_distance: int
    """Edit distance between the two, an upper bound."""
    orbit_sizes: IntArray
    """For each node of the graph, how many nodes look exactly like it, itself included."""


def worst_reconstructions(
    model: GRALE,
    graphs: Sequence[Graph],
    count: int | None = 6,
    batch_size: int = 256,
    progress: Callable[[int], object] | None = None,
) -> list[Failure]:
    """Reconstruct all graphs and return the worst failures, the worst first.

    Graphs that are reconstructed exactly are left out, so there may be fewer than `count`. None
    returns all failures.
    """
    found: list[tuple[int, int, Graph, NDArray[np.int64]]] = []
    for start in range(0, len(graphs), batch_size):
        chunk = list(graphs[start : start + batch_size])
        result = reconstruct(model, chunk, CodecOptions(batch_size=batch_size))
        for place, (graph, again, mapping) in enumerate(
            zip(chunk, result.graphs, result.mappings), start
        ):
            if not is_isomorphic(graph, again):
                bound = edit_distance_bound(graph, again, mapping)
                found.append((bound.edit_distance, place, again, bound.mapping))
        found = sorted(found, key=lambda failure: (-failure[0], failure[1]))[:count]
        if progress is not None:
            progress(len(chunk))
    return [
        Failure(row, graphs[row], again, mapping, distance, orbit_sizes(graphs[row]))
        for distance, row, again, mapping in found
    ]


class TwinGroup(NamedTuple):
    """Graphs with a similar number of nodes that some symmetry moves."""

    least: int
    most: int
    num_graphs: int
    exact: int
    """Share of them that is reconstructed exactly."""


def exact_by_twins(graphs: Sequence[Graph], failures: Sequence[Failure]) -> list[TwinGroup]:
    """Count exact reconstructions by how many nodes of a graph have a symmetric twin.

    `failures` must hold all failures among the graphs.
    """
    twins = np.array([int((orbit_sizes(graph) > 1).sum()) for graph in graphs])
    is_exact = np.ones(len(graphs), dtype=bool)
    is_exact[[failure.row for failure in failures]] = False
    groups = []
    for least, beyond in pairwise(TWIN_STEPS):
        chosen = (twins >= least) & (twins < beyond)
        if chosen.any():
            most = int(twins[chosen].max())
            groups.append(TwinGroup(least, most, int(chosen.sum()), int(is_exact[chosen].sum())))
    return groups
