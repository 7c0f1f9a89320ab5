"""COLORING graphs, one block at a time (paper: appendix "Datasets", COLORING).

A block is `BLOCK_SIZE` graphs of consecutive numbers that share a random stream:

    sizes -> centroids -> cells -> borders -> colours,   then again for the rejected ones.

Departures: a rejected image is redrawn with the same number of nodes (Any2Graph draws the
number again), so that sizes are exactly uniform. Cells and borders have no minimum size by
default (Any2Graph's files drop those below three pixels). As in Any2Graph, colours are drawn
before thin borders are dropped: touching cells always differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int8, Int16, Int64

from grale.data.coloring.cells import border_lengths, cell_sizes, is_connected, nearest_cells
from grale.data.coloring.four_coloring import NO_COLOR, random_four_coloring
from grale.graphs.graph import Graph

BLOCK_SIZE = 128  # graphs that share a random stream; changing it changes every dataset
MAX_ROUNDS = 200  # redraws of a block; if they are not enough, the cells do not fit in the image
GRAPH_STREAM, NOISE_STREAM = 0, 1  # separate, so that drawing an image never alters a graph


@dataclass(frozen=True, kw_only=True)
class ColoringConfig:
    """Which COLORING graphs to draw; the default is COLORING 20."""

    min_nodes: int = 5
    """Fewest nodes; sizes are uniform from here to `max_nodes`."""
    max_nodes: int = 20
    """Most nodes."""
    grid: int = 32
    """Pixels on each side of the image."""
    min_pixels: int = 1
    """Images with a smaller cell are redrawn; edges along a border with fewer pairs of
    touching pixels are left out, and the image redrawn if that disconnects the graph."""

    def __post_init__(self) -> None:
        if self.min_nodes < 1:
            raise ValueError(f"min_nodes must be >= 1, got {self.min_nodes}")
        if self.max_nodes < self.min_nodes:
            raise ValueError(
                f"max_nodes must be >= min_nodes={self.min_nodes}, got {self.max_nodes}"
            )
        if self.grid < 2:
            raise ValueError(f"grid must be >= 2 pixels, got {self.grid}")
        if self.min_pixels < 1:
            raise ValueError(f"min_pixels must be >= 1, got {self.min_pixels}")
        if self.max_nodes * self.min_pixels > self.grid**2:
            raise ValueError(
                f"max_nodes={self.max_nodes} cells of min_pixels={self.min_pixels} do not fit in "
                f"{self.grid} x {self.grid} pixels; raise grid"
            )


COLORING_VARIANTS: dict[str, ColoringConfig] = {
    "coloring10": ColoringConfig(max_nodes=10),
    "coloring15": ColoringConfig(max_nodes=15),
    "coloring20": ColoringConfig(max_nodes=20),
}


class GraphArrays(NamedTuple):
    """The graphs of one block, end to end: cheap to send between processes."""

    num_nodes: Int64[np.ndarray, "B"]
    colors: Int8[np.ndarray, "B N"]
    edges: Int16[np.ndarray, "E 2"]
    edge_start: Int64[np.ndarray, "B_plus_1"]
    """Graph b has the edges from `edge_start[b]` up to, not including, `edge_start[b + 1]`."""

    def graph(self, row: int) -> Graph:
        """Build graph number `row` of the block."""
        colors = self.colors[row, : self.num_nodes[row]].astype(np.int64)
        edges = self.edges[self.edge_start[row] : self.edge_start[row + 1]].astype(np.int64)
        return Graph.trusted(colors, edges, np.ones(len(edges), dtype=np.int64))


class Block(NamedTuple):
    """`BLOCK_SIZE` instances, padded to `max_nodes`."""

    num_nodes: Int64[np.ndarray, "B"]
    centroids: Float32[np.ndarray, "B N 2"]
    cells: Int16[np.ndarray, "B G G"]
    adjacency: Bool[np.ndarray, "B N N"]
    colors: Int8[np.ndarray, "B N"]

    def graph_arrays(self) -> GraphArrays:
        """Keep the graphs only."""
        graph, source, target = np.nonzero(np.triu(self.adjacency))
        edges = np.stack([source, target], axis=1).astype(np.int16)
        edge_start = np.searchsorted(graph, np.arange(len(self.num_nodes) + 1))
        return GraphArrays(self.num_nodes, self.colors, edges, edge_start)


def draw_block(config: ColoringConfig, seed: int, number: int) -> Block:
    """Draw graphs `number * BLOCK_SIZE` to `(number + 1) * BLOCK_SIZE - 1`."""
    generator = random_stream(seed, GRAPH_STREAM, number)
    num_nodes = generator.integers(config.min_nodes, config.max_nodes + 1, BLOCK_SIZE)
    block = _propose(config, num_nodes, generator)
    for _ in range(MAX_ROUNDS):
        rejected = np.flatnonzero((block.colors == NO_COLOR).any(axis=1))
        if len(rejected) == 0:
            return block
        for old, new in zip(block, _propose(config, num_nodes[rejected], generator)):
            old[rejected] = new
    raise RuntimeError(
        f"no image of {num_nodes[rejected].max()} cells after {MAX_ROUNDS} redraws with {config}; "
        "lower max_nodes or min_pixels, or raise grid"
    )


def _propose(
    config: ColoringConfig, num_nodes: Int64[np.ndarray, "B"], generator: np.random.Generator
) -> Block:
    """Draw one instance per size; those to reject keep the colour -1 everywhere."""
    node_mask = np.arange(config.max_nodes) < num_nodes[:, None]
    centroids = generator.random((*node_mask.shape, 2), dtype=np.float32)
    centroids[~node_mask] = np.inf
    cells = nearest_cells(centroids, config.grid)
    borders = border_lengths(cells, config.max_nodes)
    adjacency = borders >= config.min_pixels
    is_large = cell_sizes(cells, config.max_nodes) >= config.min_pixels
    is_kept = (is_large | ~node_mask).all(axis=1) & is_connected(adjacency, node_mask)
    colors = np.full(node_mask.shape, NO_COLOR, dtype=np.int8)
    colors[is_kept] = random_four_coloring(borders[is_kept] > 0, generator)
    return Block(num_nodes, centroids, cells, adjacency, colors)


def random_stream(seed: int, stream: int, number: int) -> np.random.Generator:
    """Return one generator of a family; seeds, families and numbers are independent."""
    if seed < 0:
        raise ValueError(f"seed must be >= 0, got {seed}")
    sequence = np.random.SeedSequence(seed, spawn_key=(stream, number))
    return np.random.Generator(np.random.PCG64(sequence))
