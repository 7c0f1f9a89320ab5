"""COLORING as one would first write it: pixel by pixel, node by node."""

import numpy as np


def nearest_cells_reference(centroids, grid):
    axis = np.linspace(0, 1, grid, dtype=np.float32)
    cells = np.empty((grid, grid), dtype=np.int64)
    for row in range(grid):
        for column in range(grid):
            distances = [abs(axis[row] - r) + abs(axis[column] - c) for r, c in centroids]
            cells[row, column] = distances.index(min(distances))
    return cells


def border_lengths_reference(cells):
    """Map each pair of touching cells (i, j), i < j, to its number of touching pixels."""
    height, width = cells.shape
    lengths = {}
    for row in range(height):
        for column in range(width):
            for other in ((row + 1, column), (row, column + 1)):
                if other[0] < height and other[1] < width:
                    pair = tuple(sorted((int(cells[row, column]), int(cells[other]))))
                    if pair[0] != pair[1]:
                        lengths[pair] = lengths.get(pair, 0) + 1
    return lengths


def is_connected_reference(num_nodes, edges):
    reached = {0}
    for _ in range(num_nodes):
        for i, j in edges:
            if i in reached or j in reached:
                reached |= {i, j}
    return len(reached) == num_nodes


def is_properly_colored_reference(colors, edges):
    return all(0 <= color < 4 for color in colors) and all(colors[i] != colors[j] for i, j in edges)
