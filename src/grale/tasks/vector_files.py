"""Files of vectors that `grale embed` has written: parquet, a folder of parts, csv or npy.

They are read as a stream. Which model made them is known if the file says so; other files of
vectors, such as a plain .npy, are read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.codec.identity import Identity, identity_in
from grale.data.molecules.records import GRALE_KEY
from grale.files import read_json
from grale.tasks.vector_columns import (
    VECTORS,
    first_width,
    matrix_of,
    vector_field,
    vector_lists,
    width_in,
)
from grale.tasks.vector_output import sidecar_of

ROWS = 4_096
CSV_BLOCK = 1 << 24  # bytes; a row must fit


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors, or a folder of them."""

    path: Path
    files: tuple[Path, ...]
    made_with: Mapping[str, Any] | None
    """What `grale.codec.identity.provenance` says, if the file does."""

    @property
    def made_by(self) -> Identity | None:
        """Which model made the vectors, if the file says so."""
        return identity_in(self.made_with)

    def schemas(self) -> Iterator[pa.Schema]:
        """Columns of each file; those of a csv or npy show when it is read."""
        for file in self.files:
            if file.suffix.lower() not in (".csv", ".npy"):
                yield pq.read_schema(file)

    def count(self) -> int:
        """Rows; a csv is read for it, which takes far less time than decoding it."""
        if self.files[0].suffix.lower() == ".npy":
            return len(np.load(self.files[0], mmap_mode="r", allow_pickle=False))
        if _is_csv(self.files[0]):
            return sum(batch.num_rows for batch in self.batches())
        return sum(pq.read_metadata(file).num_rows for file in self.files)

    def width(self, column: str) -> int:
        """Length of the vectors of a column; 0 if the file does not say so and has no vector."""
        known = [width_in(schema.field(column)) for schema in self.schemas()]
        told = (width for width in known if width is not None)
        read = (_first_width(batch, column) for batch in self.batches((column,)))
        return next((width for width in chain(told, read) if width is not None), 0)

    def batches(self, columns: tuple[str, ...] | None = None) -> Iterator[pa.RecordBatch]:
        """Rows in order, a few thousand at a time; only the named columns that there are."""
        for file in self.files:
            if file.suffix.lower() == ".npy":
                yield from _npy_batches(file, str((self.made_with or {}).get("reading")))
            elif _is_csv(file):
                yield from _csv_batches(file)
            else:
                yield from _parquet_batches(file, columns)


@dataclass(frozen=True)
class StoredVectors:
    """All vectors of a file, and who made them; `np.asarray` gives the vectors alone."""

    vectors: NDArray[np.float32]
    """One row each, NaN where a row failed."""
    made_with: Mapping[str, Any] | None
    """Model, version and fingerprint, if the file says so."""

    def __len__(self) -> int:
        return len(self.vectors)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.vectors, dtype=dtype)


def read_vectors(path: Path | str, column: str = "embedding") -> StoredVectors:
    """Read all vectors of a file that `grale embed` has written.

    `model.decode` and its relatives refuse the result if another model made it.
    """
    opened = open_vectors(Path(path))
    for schema in opened.schemas():
        _check_column(schema, column, opened.path)
    width, parts, first = opened.width(column), [], 0
    for batch in opened.batches((column,)):
        _check_column(batch.schema, column, opened.path)
        parts.append(matrix_of(batch[column], width, first, path))
        first += batch.num_rows
    if not parts:
        raise ValueError(f"{path} holds no rows")
    return StoredVectors(np.concatenate(parts), opened.made_with)


def _check_column(schema: pa.Schema, column: str, path: Path) -> None:
    if column not in schema.names:
        raise ValueError(f"{path} has no column {column!r}; it has {schema.names}")


def _first_width(batch: pa.RecordBatch, column: str) -> int | None:
    """Length of the vectors of a batch, if it says so or has one."""
    if column not in batch.schema.names:
        return None
    told = width_in(batch.schema.field(column))
    return first_width(batch[column]) if told is None else told


def open_vectors(path: Path) -> VectorFile:
    """Open a file or a folder of vectors, and find out who made them."""
    if path.is_dir():
        files = tuple(sorted(path.glob("*.parquet")))
        if not files:
            raise FileNotFoundError(f"{path} holds no parquet files")
    elif not path.is_file():
        raise FileNotFoundError(f"{path} is not a file")
    else:
        files = (path,)
    if files[0].suffix.lower() in (".csv", ".npy"):
        return VectorFile(path, files, _sidecar(path))
    made_with = [_in_parquet(file) for file in files]
    odd = next((each for each in made_with if each != made_with[0]), made_with[0])
    if odd != made_with[0]:
        raise ValueError(f"{path} mixes vectors of several models; keep them apart")
    return VectorFile(path, files, made_with[0])


def made_with_of(path: Path) -> Mapping[str, Any] | None:
    """Which model made the vectors of a file; None if it is not a file of vectors, or is silent."""
    is_one = path.is_dir() or path.suffix.lower() in (".parquet", ".csv", ".npy")
    try:
        return open_vectors(path).made_with if is_one else None
    except (FileNotFoundError, pa.ArrowInvalid):
        return None


def _is_csv(file: Path) -> bool:
    return file.suffix.lower() == ".csv"


def _sidecar(path: Path) -> Mapping[str, Any] | None:
    file = sidecar_of(path)
    values = read_json(file) if file.is_file() else None
    return values if isinstance(values, dict) else None


def _in_parquet(file: Path) -> Mapping[str, Any] | None:
    text = (pq.read_schema(file).metadata or {}).get(GRALE_KEY)
    try:
        values = json.loads(text) if text else None
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


def _parquet_batches(file: Path, columns: tuple[str, ...] | None) -> Iterator[pa.RecordBatch]:
    opened = pq.ParquetFile(file)
    names = opened.schema_arrow.names
    wanted = None if columns is None else [name for name in columns if name in names]
    try:
        yield from opened.iter_batches(ROWS, columns=wanted)
    except pa.ArrowInvalid as error:
        if "lists to be of size" not in str(error):
            raise
        raise ValueError(
            f"{file} has vectors and failed rows as an older version of grale wrote them; pyarrow "
            f"{pa.__version__} cannot read that: update pyarrow to 26, or embed again"
        ) from error


def _npy_batches(file: Path, reading: str) -> Iterator[pa.RecordBatch]:
    matrix = np.load(file, mmap_mode="r", allow_pickle=False)
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise ValueError(f"{file} holds {matrix.dtype} of shape {matrix.shape}; expected vectors")
    name = VECTORS[1] if reading == VECTORS[1] else VECTORS[0]
    for start in range(0, max(len(matrix), 1), ROWS):
        rows = np.asarray(matrix[start : start + ROWS], np.float32)
        yield _with_vectors({}, {name: rows})


def _csv_batches(file: Path) -> Iterator[pa.RecordBatch]:
    """Batches of a csv of ours, with the numbers of a vector in one column again."""
    options = pa.csv.ReadOptions(block_size=CSV_BLOCK)
    with pa.csv.open_csv(file, read_options=options) as reader:
        for batch in reader:
            names = batch.schema.names
            found = {}
            for vector in VECTORS:
                numbered = [name for name in names if _is_numbered(name, vector)]
                if numbered:
                    columns = [np.asarray(batch[name].cast(pa.float32())) for name in numbered]
                    found[vector] = np.stack(columns, axis=1)
                names = [name for name in names if name not in numbered]
            yield _with_vectors({name: batch[name] for name in names}, found)


def _is_numbered(name: str, vector: str) -> bool:
    return name.startswith(f"{vector}_") and name[len(vector) + 1 :].isdecimal()


def _with_vectors(
    columns: Mapping[str, pa.Array], vectors: Mapping[str, NDArray[np.float32]]
) -> pa.RecordBatch:
    """Rows with columns of vectors behind the others; a vector with a NaN is missing."""
    fields = [pa.field(name, column.type) for name, column in columns.items()]
    arrays = list(columns.values())
    for name, rows in vectors.items():
        is_ok = np.asarray(~np.isnan(rows).any(axis=1))
        fields.append(vector_field(name, rows.shape[1]))
        arrays.append(vector_lists(rows[is_ok], is_ok))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
