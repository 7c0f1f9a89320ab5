"""The rows of a file that are nearest to given molecules or graphs, by their descriptions.

Each number of a description is divided by its deviation over the first rows of the file; then the
distance is Euclidean. Memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.tasks.described_rows import DescribedRows, described_chunks

LEAST_SPREAD = 1e-6


class Neighbour(NamedTuple):
    """One row of the file."""

    row: int
    """Its place, counted from 0."""
    entry: str
    distance: float
    others: Mapping[str, Any]
    """What the file holds beside it."""


def neighbours(
    model: GraphAutoencoder,
    among: Path | str,
    of: Iterable[Any],
    k: int = 5,
    column: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[list[Neighbour]]:
    """Find the `k` nearest rows of a file for each of the graphs `of`, the nearest first.

    Parameters
    ----------
    model
        Whose descriptions are compared.
    among
        A csv, tsv, smi, sdf or parquet of molecules, a file or folder of graphs, or a file that
        `grale embed` has written; with descriptions of the same model, nothing is embedded again.
    of
        What to find neighbours of: anything that `model.describe` takes, in a list.
    k
        How many; fewer if the file has fewer rows that the model can take.
    column
        Column of the SMILES, if it has an unusual name.
    progress
        Called with the number of rows done since the last call.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    queries = model.describe(of)
    best: list[list[Neighbour]] = [[] for _ in queries]
    scale = None
    for part in described_chunks(model, Path(among), column, None, progress=progress):
        if len(part.vectors):
            if scale is None:
                scale = part.vectors.std(axis=0) + LEAST_SPREAD
            distances = _distances(queries / scale, part.vectors / scale)
            best = [_nearest(known, row, part, k) for known, row in zip(best, distances)]
    if scale is None:
        raise ValueError(f"{among} holds no row that the model can take")
    return best


def _distances(queries: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Entry (i, j) is the distance of query i and vector j."""
    rows = [np.linalg.norm(vectors - query, axis=1) for query in queries]
    return np.stack(rows).astype(np.float64)


def _nearest(
    known: list[Neighbour], distances: NDArray[np.float64], part: DescribedRows, k: int
) -> list[Neighbour]:
    """The nearest among those known and the rows of a part; of equal ones, the first."""
    places = np.argsort(distances, kind="stable")[:k]
    new = [
        Neighbour(
            int(part.numbers[place]),
            part.entries[place],
            float(distances[place]),
            {name: values[place] for name, values in part.others.items()},
        )
        for place in places
    ]
    return sorted([*known, *new], key=lambda each: (each.distance, each.row))[:k]
