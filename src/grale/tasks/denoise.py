"""Repairing wrong colours by encoding and decoding (paper: "Denoising Properties").

Nodes of valid colourings are recoloured at random. The curve shows the share of valid graphs before
and after reconstruction, over the noise level.

Departures: the paper does not say how colours are changed. Here, each node gets another colour with
a probability equal to the noise level; all other colours are equally likely. In molecules, which
the paper does not denoise, atoms become other elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import ELEMENTS, MoleculeError, is_molecular
from grale.graphs.space import GraphSpace
from grale.metrics.intervals import Share
from grale.model.autoencoder import GRALE

LEVELS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


COMMON_ELEMENTS = ELEMENTS.index("Cl") + 1


class DenoisePoint(NamedTuple):
    """One noise level."""

    level: float
    before: Share
    """Share of the corrupted graphs that are valid."""
    after: Share
    """Share of their reconstructions that are valid."""


class Noise(NamedTuple):
    """What noise does to the graphs of a space, and which of them are valid."""

    num_labels: int
    """A node may take the first this many labels."""
    is_valid: Callable[[Graph], bool]
    change: str
    """In words."""
    valid: str


def noise_of(space: GraphSpace) -> Noise:
    """Noise that suits a space: other colours, or other elements."""
    if is_molecular(space):
        return Noise(COMMON_ELEMENTS, is_valid_molecule, "atoms changed", "valid molecules")
    return Noise(space.num_node_labels, is_valid_coloring, "nodes recoloured", "valid colourings")


def is_valid_molecule(graph: Graph) -> bool:
    """Whether the graph is a molecule in which every bare positive atom has its counterpart.

    >>> [is_valid_molecule(Graph.from_smiles(smiles)) for smiles in ("CO", "C[O+](C)C")]
    [True, False]
    """
    try:
        atoms = graph.to_mol().GetAtoms()
    except MoleculeError:
        return False
    bare = (atom for atom in atoms if atom.GetFormalCharge() > 0 and not atom.GetTotalNumHs())
    return all(any(n.GetFormalCharge() < 0 for n in atom.GetNeighbors()) for atom in bare)


def is_valid_coloring(graph: Graph) -> bool:
    """Whether no edge joins two nodes of the same colour.

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
        raise ValueError("there is no other colour: the model has only one label")
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
    """Corrupt and reconstruct the graphs at every level; count valid colourings or molecules."""
    noise = noise_of(model.space)
    points = []
    for number, level in enumerate(levels):
        rng = np.random.default_rng([seed, number])
        noisy = [recolour(graph, level, noise.num_labels, rng) for graph in graphs]
        again = reconstruct(model, noisy, CodecOptions(batch_size=batch_size)).graphs
        before, after = (sum(map(noise.is_valid, some)) for some in (noisy, again))
        points.append(DenoisePoint(level, Share(before, len(noisy)), Share(after, len(again))))
        if progress is not None:
            progress(len(noisy))
    return points
