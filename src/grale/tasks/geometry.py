"""Geometry of the space of vectors: what near vectors mean, and what a wrong step costs.

    r2             variance of held-out properties that five neighbours and a ridge explain
    moved          share of latents that decode to a valid graph in one piece after a random step
                   of 30 % of their length
    midpoints      the same for the mean of two random latents
    edits          rank correlation between the distance of two vectors and the number of random
                   edits between their graphs

Molecules have 8 to 16 atoms, so that models of all sizes can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import networkx
import numpy as np
from numpy.typing import NDArray

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace
from grale.metrics.intervals import Share
from grale.metrics.ranking import spearman
from grale.tasks.denoise import noise_of
from grale.tasks.heads import r2_of
from grale.tasks.properties import named_property

STEP = 0.3  # of the length of a latent
MOST_EDITS = 8
FITTED_SHARE = 0.75
MOST_DECODED = 2_000
SIZES = (8, 16)  # of molecules
MOLECULE_PROPERTIES = ("logP", "QED", "TPSA")
GRAPH_PROPERTIES = ("size", "edges")

Progress = Callable[[int], object] | None


class Readings(NamedTuple):
    """The same figure for both vectors of a graph."""

    latent: float
    description: float


class Geometry(NamedTuple):
    """What was measured; see the top of this file."""

    num_graphs: int
    neighbours: dict[str, Readings]
    """R2 of five neighbours, by property."""
    ridge: dict[str, Readings]
    moved: Share
    midpoints: Share
    edits: Readings


def suits(space: GraphSpace, graph: Graph) -> bool:
    """Whether a graph can be measured: connected, and if a molecule, of 8 to 16 atoms."""
    if is_molecular(space) and not SIZES[0] <= graph.num_nodes <= SIZES[1]:
        return False
    return is_in_one_piece(graph)


def measure_geometry(
    model: GraphAutoencoder, graphs: Sequence[Graph], seed: int = 0, progress: Progress = None
) -> Geometry:
    """Measure on graphs that the model was not trained on; all of them must suit."""
    rng = np.random.default_rng(seed)
    tick = progress or (lambda done: None)
    latents = model.encode(graphs)
    descriptions = model.describe(latents)
    names = MOLECULE_PROPERTIES if is_molecular(model.space) else GRAPH_PROPERTIES
    values = {name: np.array([named_property(name)(g) for g in graphs]) for name in names}
    tick(1)
    fitted = int(FITTED_SHARE * len(graphs))

    def readings(head: str) -> dict[str, Readings]:
        found = {}
        for name in names:
            both = (r2_of(head, each, values[name], fitted) for each in (latents, descriptions))
            found[name] = Readings(*both)
        return found

    neighbours, ridge = readings("knn"), readings("ridge")
    tick(1)
    few = latents[:MOST_DECODED]
    moved = _share_valid(model, few + STEP * _random_steps(few, rng))
    tick(1)
    partners = rng.permutation(len(few))
    midpoints = _share_valid(model, (few + few[partners]) / 2)
    tick(1)
    edits = _edit_correlation(model, graphs[:MOST_DECODED], latents, descriptions, rng)
    tick(1)
    return Geometry(len(graphs), neighbours, ridge, moved, midpoints, edits)


def is_in_one_piece(graph: Graph) -> bool:
    """Whether every node can be reached from every other."""
    return bool(networkx.is_connected(graph.to_networkx().to_undirected()))


def _random_steps(latents: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """A random direction for each row, as long as the row."""
    steps = rng.standard_normal(latents.shape)
    lengths = np.linalg.norm(latents, axis=1, keepdims=True)
    return (steps * lengths / np.linalg.norm(steps, axis=1, keepdims=True)).astype(np.float32)


def _share_valid(model: GraphAutoencoder, latents: NDArray[np.floating]) -> Share:
    """Share of latents that decode to a valid, connected graph."""
    is_valid = noise_of(model.space).is_valid
    decoded = [graph for graph in model.decode(latents) if graph is not None]
    return Share(sum(is_valid(g) and is_in_one_piece(g) for g in decoded), len(latents))


def _edit_correlation(
    model: GraphAutoencoder,
    graphs: Sequence[Graph],
    latents: NDArray[np.float32],
    descriptions: NDArray[np.float32],
    rng: np.random.Generator,
) -> Readings:
    """Spearman correlation of distances to edited graphs with the number of edits."""
    counts = rng.integers(1, MOST_EDITS + 1, len(graphs))
    changed = [edited(graph, int(count), model.space, rng) for graph, count in zip(graphs, counts)]
    others = model.encode(changed)
    found = []
    for before, after in (
        (latents[: len(graphs)], others),
        (descriptions[: len(graphs)], model.describe(others)),
    ):
        scale = before.std(axis=0) + 1e-6
        found.append(spearman(counts, np.linalg.norm((after - before) / scale, axis=1)))
    return Readings(*found)


def edited(graph: Graph, count: int, space: GraphSpace, rng: np.random.Generator) -> Graph:
    """The graph after `count` random edits of node or edge labels."""
    labels, matrix = graph.node_labels.copy(), graph.label_matrix()
    for _ in range(count):
        if graph.num_nodes < 2 or rng.random() < 0.5:
            node = rng.integers(len(labels))
            others = np.setdiff1d(np.arange(min(space.num_node_labels, 9)), [labels[node]])
            labels[node] = rng.choice(others) if len(others) else labels[node]
            continue
        a, b = rng.choice(len(labels), 2, replace=False)
        others = np.setdiff1d(np.arange(space.num_edge_classes), [matrix[a, b]])
        matrix[a, b] = rng.choice(others)
        if not graph.directed:
            matrix[b, a] = matrix[a, b]
    return Graph.from_label_matrix(labels, matrix, graph.directed)
