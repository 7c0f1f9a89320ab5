"""Vectors as a file: parquet, csv or npy, each with the name of the model that made them.

OUT.parquet  all columns; the model is in the metadata of the file, under the key "grale"
OUT.csv      all columns, one for each number of a vector; the model is in OUT.csv.json
OUT.npy      the vectors, NaN where a row failed; the model is in OUT.npy.json, and the other
             columns are in OUT.rows.csv
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from grale.data.molecules.records import GRALE_KEY
from grale.data.row_files import rows_of
from grale.files import whole, write_whole
from grale.tasks.embed_parts import read_part, remove_parts, whole_parts
from grale.tasks.outputs import written_whole
from grale.tasks.vector_columns import VECTORS, matrix_of, width_in

SUFFIXES = (".parquet", ".csv", ".npy")


def is_one_file(out: Path) -> bool:
    """Whether a name asks for one file, and not for a folder of parts."""
    return out.suffix.lower() in SUFFIXES


def metadata_of(made_with: Mapping[str, str | None]) -> dict[str, str]:
    """Metadata of a parquet file: which model made its vectors."""
    return {GRALE_KEY.decode(): json.dumps(made_with)}


def sidecar_of(out: Path) -> Path:
    """File beside a csv or npy that says which model made its vectors."""
    return out.with_name(out.name + ".json")


def finish(folder: Path, out: Path, source: Path) -> None:
    """Join the parts into one file, one part at a time, unless the output is a folder."""
    parts = whole_parts(folder, source)
    if folder == out:
        return
    schema = pq.read_schema(parts[0])
    made_with = json.loads(schema.metadata[GRALE_KEY])
    WRITERS[out.suffix.lower()](out, parts, schema, made_with)
    remove_parts(folder, parts)


def _write_parquet(
    out: Path, parts: list[Path], schema: pa.Schema, made_with: dict[str, Any]
) -> None:
    with written_whole(out, schema.with_metadata(metadata_of(made_with))) as writer:
        for part in parts:
            writer.write_table(read_part(part).replace_schema_metadata(metadata_of(made_with)))


def _write_csv(out: Path, parts: list[Path], schema: pa.Schema, made_with: dict[str, Any]) -> None:
    write_sidecar(out, made_with)
    _write_tables(out, (_flat(read_part(part)) for part in parts))


def _write_npy(out: Path, parts: list[Path], schema: pa.Schema, made_with: dict[str, Any]) -> None:
    (name,) = [name for name in schema.names if name in VECTORS]
    width = _width(schema, name)
    count = sum(pq.read_metadata(part).num_rows for part in parts)
    write_sidecar(out, made_with)
    _write_tables(rows_of(out), (_flat(read_part(part).drop([name])) for part in parts))
    with whole(out) as partial, partial.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(matrix_of(read_part(part)[name], width).astype("<f4").tobytes())


def write_sidecar(out: Path, made_with: Mapping[str, Any]) -> None:
    """Write beside an output which model made it."""
    write_whole(sidecar_of(out), json.dumps(made_with, indent=2) + "\n")


def _write_tables(out: Path, tables: Iterator[pa.Table]) -> None:
    """Write tables of one schema below each other."""
    first = next(tables)
    with whole(out) as partial, pa.csv.CSVWriter(partial, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def _flat(table: pa.Table) -> pa.Table:
    """Columns that a csv can hold: vectors number by number, behind the others; lists as JSON."""
    columns = {n: plain(table[n]) for n in table.column_names if n not in VECTORS}
    for name in VECTORS:
        if name in table.column_names:
            width = _width(table.schema, name)
            matrix = matrix_of(table[name], width)
            is_missing = np.isnan(matrix[:, 0]) if width else np.zeros(0, dtype=bool)
            for place in range(width):
                columns[f"{name}_{place}"] = pa.array(matrix[:, place], mask=is_missing)
    return pa.table(columns)


def _width(schema: pa.Schema, name: str) -> int:
    width = width_in(schema.field(name))
    assert width is not None, "every part says how long its vectors are"
    return width


def plain(column: pa.ChunkedArray) -> Any:
    """A column as a csv can hold it: lists as JSON."""
    if pa.types.is_nested(column.type):
        texts = [None if value is None else json.dumps(value) for value in column.to_pylist()]
        return pa.array(texts, pa.string())
    return column


WRITERS: dict[str, Callable[[Path, list[Path], pa.Schema, dict[str, Any]], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".npy": _write_npy,
}
