"""Embed a column of a data frame: the frame comes back with the vectors beside its own columns.

Frames of pandas and polars and tables of pyarrow are taken; none of them needs to be installed.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from grale.catalog import load_any
from grale.codec.failures import NOT_FINITE, are_finite
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import provenance
from grale.codec.intake import screen
from grale.graphs.graph import Graph
from grale.tasks.embed import READINGS

NAMES = ("embedding", "description")


def embed_frame(
    frame: Any,
    column: str = "smiles",
    model: str | GraphAutoencoder = "molecules",
    *,
    what: Literal["latent", "description", "both"] = "latent",
    wide: bool = False,
    batch_size: int = 256,
    refine: int = 0,
) -> Any:
    """Return the frame with its own columns, `status`, `reason` and the vectors, row by row.

    A frame of pandas carries the model, its version and its fingerprint in `frame.attrs["grale"]`,
    and `model.decode` refuses its columns if another model made them. A table of pyarrow carries
    them in `table.schema.metadata[b"grale"]`, as a parquet file of `grale embed` does. A frame of
    polars cannot hold metadata: keep `model.fingerprint` beside it.

    Parameters
    ----------
    frame
        A data frame of pandas or polars, or a table of pyarrow; it is not changed.
    column
        Which column holds the SMILES, RDKit molecules or graphs.
    model
        A loaded model, or the name of one.
    what
        The column `embedding` (vectors that decode), `description` (vectors to compare), or both.
    wide
        One column per number (embedding_0, embedding_1, ...; NaN in rows that failed) instead of a
        column of arrays (missing in rows that failed).
    batch_size, refine
        As in `model.encode`.
    """
    if what not in READINGS:
        raise ValueError(f"what={what!r}; expected one of {', '.join(READINGS)}")
    names = list(_names(frame))
    if column not in names:
        raise ValueError(f"the frame has no column {column!r}; it has {names[:20]}")
    name = model if isinstance(model, str) else type(model).__name__
    loaded = load_any(model) if isinstance(model, str) else model
    items = screen(frame[column], loaded.space)
    graphs = [item for item in items if isinstance(item, Graph)]
    latents = np.full((len(items), loaded.latent_dim), np.nan, dtype=np.float32)
    is_graph = np.array([isinstance(item, Graph) for item in items], dtype=bool)
    if graphs:
        latents[is_graph] = loaded.encode(graphs, batch_size, "null", refine)
    is_ok = are_finite(latents)
    reasons = [
        None if ok else item if isinstance(item, str) else NOT_FINITE
        for ok, item in zip(is_ok, items)
    ]
    added: dict[str, Any] = {
        "status": ["ok" if ok else "failed" for ok in is_ok],
        "reason": reasons,
    }
    found = [latents, loaded.describe(latents, batch_size, "null")]
    for vector, rows, wanted in zip(NAMES, found, READINGS[what]):
        added |= _columns(vector, rows, is_ok, wide) if wanted else {}
    taken = [each for each in added if each in names]
    if taken:
        raise ValueError(f"the frame already has a column {taken[0]!r}; rename it first")
    widths = dict(zip(NAMES, (loaded.latent_dim, loaded.description_dim)))
    return _with_columns(frame, added, provenance(loaded, name, what), widths)


def _columns(
    name: str, rows: NDArray[np.float32], is_ok: NDArray[np.bool_], wide: bool
) -> dict[str, Any]:
    if wide:
        return {f"{name}_{place}": rows[:, place] for place in range(rows.shape[1])}
    return {name: [row if ok else None for row, ok in zip(rows, is_ok)]}


def _names(frame: Any) -> Any:
    """Names of the columns, or an error if it is not a frame."""
    if hasattr(frame, "column_names"):  # pyarrow
        return frame.column_names
    if not hasattr(frame, "columns"):
        raise TypeError(f"expected a data frame, got {type(frame).__name__}; use model.encode")
    return frame.columns


def _with_columns(
    frame: Any, added: dict[str, Any], made_with: dict[str, Any], widths: dict[str, int]
) -> Any:
    """A new frame with more columns, made by the library that the frame comes from."""
    library = sys.modules[type(frame).__module__.partition(".")[0]]
    if library.__name__ == "pyarrow":
        import pyarrow as pa

        from grale.tasks.vector_columns import vector_field
        from grale.tasks.vector_output import metadata_of

        for name, values in added.items():
            field = vector_field(name, widths[name]) if name in NAMES else None
            column = pa.array(values, None if field is None else field.type)
            frame = frame.append_column(name if field is None else field, column)
        before = frame.schema.metadata or {}
        return frame.replace_schema_metadata({**before, **metadata_of(made_with)})
    if hasattr(frame, "with_columns"):  # polars
        series = (_polars_series(library, name, values) for name, values in added.items())
        return frame.with_columns(*series)
    more = {name: library.Series(values, index=frame.index) for name, values in added.items()}
    found = library.concat([frame, library.DataFrame(more, index=frame.index)], axis=1)
    found.attrs = {**frame.attrs, "grale": made_with}
    return found


def _polars_series(polars: Any, name: str, values: Any) -> Any:
    """A column of polars; vectors are lists of float32."""
    if name not in NAMES:
        return polars.Series(name, values)
    rows = [None if row is None else row.tolist() for row in values]
    return polars.Series(name, rows, dtype=polars.List(polars.Float32))
