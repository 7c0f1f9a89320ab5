"""Graphs between two graphs (paper: "Complex graph operations in the latent space").

    G_t = f((1 - t) g(G_0) + t g(G_1))

Departures: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.metrics.local_search import edit_distance_bound
from grale.model.autoencoder import GRALE


class Interpolation(NamedTuple):
    """A path of decoded graphs."""

    graphs: list[Graph]
    positions: list[float]
    """t of each graph, from 0 to 1."""
    mappings: list[NDArray[np.int64]]
    """mappings[s][i] is the node of graph s that node i of graph s + 1 continues, or -1."""


def interpolate(model: GRALE, first: Any, second: Any, steps: int = 7) -> Interpolation:
    """Decode `steps` evenly spaced points on the line between two embeddings, ends included."""
    if steps < 2:
        raise ValueError(f"steps must be at least 2 (the two ends), got {steps}")
    start, end = model.encode([first, second])
    positions = np.linspace(0, 1, steps)
    latents = (1 - positions)[:, None] * start + positions[:, None] * end
    graphs = model.decode(latents.astype(np.float32))
    return Interpolation(graphs, positions.tolist(), follow(graphs))


def follow(graphs: Sequence[Graph]) -> list[NDArray[np.int64]]:
    """Match each graph with the one before it, so that drawings keep nodes in place."""
    pairs = zip(graphs[1:], graphs[:-1])
    return [edit_distance_bound(later, earlier).mapping for later, earlier in pairs]
