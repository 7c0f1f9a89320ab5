"""From centroids to touching cells, many images at a time (paper: appendix "Datasets", COLORING).

    cells[p]        = argmin_i | p - centroid_i |_1         for each pixel p
    adjacency[i, k] = some pixel of i has a pixel of k among its 4 neighbours

Every function works on a whole block of images, because one image is so small that the
cost of calling numpy would exceed the cost of the arithmetic.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32, Int16, Int64


def nearest_cells(
    centroids: Float32[np.ndarray, "B N 2"], grid: int
) -> Int16[np.ndarray, "B {grid} {grid}"]:
    """Index of the centroid nearest to each pixel in L1 distance; the first one in a tie.

    Pixels are at `linspace(0, 1, grid)` on both axes, as in Any2Graph. Images with fewer than N
    cells are padded by centroids at infinity, which are never the nearest.
    """
    axis = np.linspace(0, 1, grid, dtype=np.float32)
    row_distance = np.abs(centroids[:, :, 0, None] - axis)
    column_distance = np.abs(centroids[:, :, 1, None] - axis)
    nearest = row_distance[:, 0, :, None] + column_distance[:, 0, None, :]
    cells = np.zeros(nearest.shape, dtype=np.int16)
    for node in range(1, centroids.shape[1]):
        distance = row_distance[:, node, :, None] + column_distance[:, node, None, :]
        np.copyto(cells, np.int16(node), where=distance < nearest)
        np.minimum(nearest, distance, out=nearest)
    return cells


def cell_sizes(
    cells: Int16[np.ndarray, "B G G"], num_cells: int
) -> Int64[np.ndarray, "B {num_cells}"]:
    """Count the pixels of each cell."""
    block = len(cells)
    codes = np.arange(block)[:, None, None] * num_cells + cells
    return np.bincount(codes.ravel(), minlength=block * num_cells).reshape(block, num_cells)


def border_lengths(
    cells: Int16[np.ndarray, "B G G"], num_cells: int
) -> Int64[np.ndarray, "B {num_cells} {num_cells}"]:
    """Count the pairs of 4-neighbour pixels, one in each cell; 0 on the diagonal."""
    block = len(cells)
    lengths = np.zeros(block * num_cells**2, dtype=np.int64)
    below = (cells[:, :-1], cells[:, 1:])
    beside = (cells[:, :, :-1], cells[:, :, 1:])
    for first, second in (below, beside):
        image, row, column = np.nonzero(first != second)
        codes = image * num_cells + first[image, row, column]
        codes = codes * num_cells + second[image, row, column]
        lengths += np.bincount(codes, minlength=len(lengths))
    one_way = lengths.reshape(block, num_cells, num_cells)
    return one_way + one_way.transpose(0, 2, 1)


def is_connected(
    adjacency: Bool[np.ndarray, "B N N"], node_mask: Bool[np.ndarray, "B N"]
) -> Bool[np.ndarray, "B"]:
    """Say for each graph whether node 0 reaches all the real nodes."""
    reached = np.zeros_like(node_mask)
    reached[:, 0] = True
    while True:
        wider = reached | (adjacency & reached[:, None, :]).any(axis=2)
        if np.array_equal(wider, reached):
            return (reached | ~node_mask).all(axis=1)
        reached = wider
