"""Rows of a file with their descriptions, as a stream: for neighbours and maps.

If `grale embed` has written the file with the same model, its vectors are used; otherwise the
molecules or graphs are embedded again. Rows that the model cannot take are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.codec.failures import are_finite
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import identity_in
from grale.data.molecules.columns import listed
from grale.data.molecules.files import Chunk
from grale.data.row_files import RowFile, open_rows
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.tasks.rows import read_rows
from grale.tasks.vector_columns import VECTORS, matrix_of
from grale.tasks.vector_files import made_with_of, open_vectors

ROWS = 4_096
TOLD = 256  # rows; progress is told after as many


class DescribedRows(NamedTuple):
    """Rows that the model can take."""

    numbers: NDArray[np.int64]
    """Their places in the file."""
    entries: list[str]
    graphs: list[Graph]
    vectors: NDArray[np.float32]
    """Their descriptions."""
    others: Mapping[str, list[Any]]
    """The columns beside the entries that were asked for."""
    num_read: int
    """Rows of the file that were looked at."""


def count_entries(path: Path, space: GraphSpace, column: str | None = None) -> int:
    """Rows that `described_chunks` reads, for a progress bar."""
    return open_rows(path, space, column).survey().num_rows


def described_chunks(
    model: GraphAutoencoder,
    path: Path,
    column: str | None = None,
    wanted: Sequence[str] | None = (),
    welcome: Callable[[str], bool] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[DescribedRows]:
    """Read a few thousand rows at a time; `wanted` names other columns, None all of them.

    Columns whose names are `welcome` are taken, too, if there are any. `progress` is called with
    the number of rows done since the last call.
    """
    opened = open_rows(path, model.space, column)
    columns = opened.survey().columns if wanted is None or wanted or welcome else {}
    for name in wanted or ():
        if name not in columns:
            raise ValueError(f"{path} has no column {name!r}; it has {listed(list(columns))}")
    kept = columns
    if wanted is not None:
        names = [name for name in columns if name in wanted or (welcome and welcome(name))]
        kept = {name: columns[name] for name in names}
    stored = _stored_rows(model, path)
    first = 0
    for chunk in opened.rows(ROWS, kept):
        beside = None if stored is None else list(islice(stored, len(chunk.entries)))
        yield _described(model, opened, chunk, beside, first, progress or _say_nothing)
        first += len(chunk.entries)


def described_rows(
    model: GraphAutoencoder,
    path: Path,
    column: str | None = None,
    wanted: Sequence[str] | None = (),
    most: int | None = None,
    progress: Callable[[int], object] | None = None,
    welcome: Callable[[str], bool] | None = None,
) -> DescribedRows:
    """Read all rows, or about the first `most` good ones, into memory."""
    parts: list[DescribedRows] = []
    for part in described_chunks(model, path, column, wanted, welcome, progress):
        parts.append(part)
        if most is not None and sum(len(each.graphs) for each in parts) >= most:
            break
    if not any(len(part.graphs) for part in parts):
        raise ValueError(f"{path} holds no row that the model can take")
    names = parts[0].others
    return DescribedRows(
        np.concatenate([part.numbers for part in parts])[:most],
        [entry for part in parts for entry in part.entries][:most],
        [graph for part in parts for graph in part.graphs][:most],
        np.concatenate([part.vectors for part in parts])[:most],
        {name: [v for part in parts for v in part.others[name]][:most] for name in names},
        sum(part.num_read for part in parts),
    )


def _stored_rows(model: GraphAutoencoder, path: Path) -> Iterator[NDArray[np.float32]] | None:
    """Descriptions in a file, row by row, if this model has made them."""
    made_by = identity_in(made_with_of(path))
    if made_by is None or made_by.fingerprint != model.fingerprint:
        return None
    return _descriptions(model, path)


def _descriptions(model: GraphAutoencoder, path: Path) -> Iterator[NDArray[np.float32]]:
    latent, description = VECTORS
    first = 0
    for batch in open_vectors(path).batches((latent, description)):
        names = batch.schema.names
        if description in names:
            rows = matrix_of(batch[description], model.description_dim, first, path)
        else:
            latents = matrix_of(batch[latent], model.latent_dim, first, path)
            rows = model.describe(latents, on_error="null")
        yield from rows
        first += len(rows)


def _described(
    model: GraphAutoencoder,
    opened: RowFile,
    chunk: Chunk,
    stored: list[NDArray[np.float32]] | None,
    first: int,
    progress: Callable[[int], object],
) -> DescribedRows:
    items = read_rows(chunk.entries, opened.text, model.space)
    if stored is None:
        vectors = _embedded(model, items, progress)
    else:
        vectors = np.stack(stored)
        progress(len(items))
    is_finite = are_finite(vectors)
    good = [p for p, item in enumerate(items) if isinstance(item, Graph) and is_finite[p]]
    return DescribedRows(
        np.array(good, dtype=np.int64) + first,
        [str(chunk.entries[place]) for place in good],
        [item for item in (items[place] for place in good) if isinstance(item, Graph)],
        vectors[good],
        {name: _taken(column.to_pylist(), good) for name, column in chunk.others.items()},
        len(items),
    )


def _embedded(
    model: GraphAutoencoder, items: list[Graph | str], progress: Callable[[int], object]
) -> NDArray[np.float32]:
    """Descriptions of the graphs among the items; NaN for the others."""
    parts = []
    for start in range(0, len(items), TOLD):
        some = [item if isinstance(item, Graph) else None for item in items[start : start + TOLD]]
        parts.append(model.describe(some, on_error="null"))
        progress(len(some))
    return np.concatenate(parts)


def _say_nothing(_: int) -> None:
    pass


def _taken(values: list[Any], places: list[int]) -> list[Any]:
    return [values[place] for place in places]
