"""COLORING, the synthetic dataset of coloured maps (paper: appendix "Datasets", COLORING).

Random centroids cut a small image into cells: each pixel belongs to the nearest centroid in
L1 distance. Cells are nodes, touching cells are joined, and colours are drawn so that no
edge joins two equal colours (Krzakala et al. 2024, Any2Graph). Graph number k depends only on
the configuration, the seed and k.

See :mod:`grale.data.coloring.block`.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float32, Int64

from grale.data.coloring.block import (
    BLOCK_SIZE,
    COLORING_VARIANTS,
    Block,
    ColoringConfig,
    GraphArrays,
    draw_block,
)
from grale.graphs.graph import Graph

__all__ = [
    "COLORING_VARIANTS",
    "ColoringConfig",
    "ColoringInstance",
    "coloring_instance",
    "generate_coloring",
]


@dataclass(frozen=True)
class ColoringInstance:
    """One graph of COLORING with the map it was read from."""

    graph: Graph
    cells: Int64[np.ndarray, "G G"]
    """The node that owns each pixel."""
    centroids: Float32[np.ndarray, "N 2"]
    """(row, column) of each node in the unit square."""


def generate_coloring(
    count: int,
    config: ColoringConfig,
    seed: int,
    start: int = 0,
    num_workers: int = 0,
    progress: Callable[[int], object] | None = None,
) -> list[Graph]:
    """Draw graphs number `start` to `start + count - 1` of an endless sequence.

    Parameters
    ----------
    count
        How many graphs.
    config
        Sizes of the graphs and of the image they are read from.
    seed
        Chooses the sequence.
    start
        First graph; ranges that do not overlap give independent graphs.
    num_workers
        Processes that draw; 0 draws in this one. The graphs do not depend on it.
    progress
        Called now and then with the number of graphs finished since the last call.

    Returns
    -------
    graphs
        Connected graphs, with colours 0..3 as node labels and edges all labelled 1.

    >>> graphs = generate_coloring(3, COLORING_VARIANTS["coloring10"], seed=0)
    >>> graphs[2] == generate_coloring(1, COLORING_VARIANTS["coloring10"], seed=0, start=2)[0]
    True
    """
    for name, value in {"count": count, "start": start, "num_workers": num_workers}.items():
        if value < 0:
            raise ValueError(f"{name} must be >= 0, got {value}")
    stop = start + count
    numbers = range(start // BLOCK_SIZE, -(-stop // BLOCK_SIZE) if count else 0)
    draw = partial(_draw_graph_arrays, config, seed)
    graphs: list[Graph] = []
    for number, arrays in zip(numbers, _map_in_order(draw, numbers, num_workers)):
        offset = number * BLOCK_SIZE
        rows = range(max(start - offset, 0), min(stop - offset, BLOCK_SIZE))
        graphs.extend(arrays.graph(row) for row in rows)
        if progress is not None:
            progress(len(rows))
    return graphs


def coloring_instance(config: ColoringConfig, seed: int, index: int) -> ColoringInstance:
    """Draw graph number `index` with its map of cells; the last few blocks are remembered."""
    if index < 0:
        raise ValueError(f"index must be >= 0, got {index}")
    number, row = divmod(index, BLOCK_SIZE)
    block = _recent_block(config, seed, number)
    return ColoringInstance(
        graph=block.graph_arrays().graph(row),
        cells=block.cells[row].astype(np.int64),
        centroids=block.centroids[row, : block.num_nodes[row]].copy(),
    )


@lru_cache(maxsize=4)
def _recent_block(config: ColoringConfig, seed: int, number: int) -> Block:
    return draw_block(config, seed, number)


def _draw_graph_arrays(config: ColoringConfig, seed: int, number: int) -> GraphArrays:
    return draw_block(config, seed, number).graph_arrays()


def _map_in_order(
    draw: Callable[[int], GraphArrays], numbers: range, num_workers: int
) -> Iterator[GraphArrays]:
    """Yield `draw(number)` for each number, computed here or in `num_workers` processes."""
    if num_workers == 0 or len(numbers) == 0:
        yield from map(draw, numbers)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_workers, mp_context=context) as pool:
        yield from pool.map(draw, numbers)
