"""Repairing wrong colours by encoding and decoding (paper: "Denoising Properties").

Nodes of valid colourings are recoloured at random; the curve is the share of valid graphs before
and after reconstruction, over the noise level.

Departures: the paper does not say how colours are changed. Here each node keeps its colour or, with
a probability equal to the noise level, takes another one, all others equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecule import is_molecular
from grale.metrics.intervals import Share
from grale.model.autoencoder import GRALE
from grale.model.reconstruction import reconstruct

LEVELS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


class DenoisePoint(NamedTuple):
    """One noise level."""

    level: float
    before: Share
    """Valid colourings among the corrupted graphs."""
    after: Share
    """Valid colourings among their reconstructions."""


def is_valid_coloring(graph: Graph) -> bool:
    """Say whether no edge joins two nodes of one colour.

    >>> is_valid_coloring(Graph([0, 1], [(0, 1)])), is_valid_coloring(Graph([2, 2], [(0, 1)]))
    (True, False)
    """
    ends = graph.node_labels[graph.edges]
    return not bool((ends[:, 0] == ends[:, 1]).any())


def recolour(graph: Graph, level: float, num_labels: int, rng: np.random.Generator) -> Graph:
    """Give each node another colour with probability `level`."""
    if not 0 <= level <= 1:
        raise ValueError(f"a noise level is between 0 and 1, got {level}")
    if num_labels < 2:
        raise ValueError("there is no other colour: the model knows one label only")
    changes = rng.random(graph.num_nodes) < level
    shift = rng.integers(1, num_labels, graph.num_nodes)
    labels = np.where(changes, (graph.node_labels + shift) % num_labels, graph.node_labels)
    return Graph.trusted(labels, graph.edges, graph.edge_labels, graph.directed)


def denoise_curve(
    model: GRALE,
    graphs: Sequence[Graph],
    levels: Sequence[float] = LEVELS,
    seed: int = 0,
    batch_size: int = 256,
    progress: Callable[[int], object] | None = None,
) -> list[DenoisePoint]:
    """Corrupt and reconstruct the graphs at every level; count valid colourings."""
    if is_molecular(model.space):
        raise ValueError("denoising repairs colourings, but this model is one of molecules")
    points = []
    for number, level in enumerate(levels):
        rng = np.random.default_rng([seed, number])
        noisy = [recolour(graph, level, model.space.num_node_labels, rng) for graph in graphs]
        again = reconstruct(model, noisy, batch_size).graphs
        before, after = (sum(map(is_valid_coloring, some)) for some in (noisy, again))
        points.append(DenoisePoint(level, Share(before, len(noisy)), Share(after, len(again))))
        if progress is not None:
            progress(len(noisy))
    return points
