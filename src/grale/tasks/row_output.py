"""Rows that a task makes, as parquet or csv, with the name of the model that made them.

OUT.parquet  the model is in the metadata of the file, under the key "grale"
OUT.csv      lists are JSON; the model is in OUT.csv.json
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from grale.files import locked, whole
from grale.tasks.outputs import written_whole
from grale.tasks.vector_output import metadata_of, plain, write_sidecar

ROW_SUFFIXES = (".parquet", ".csv")
Write = Callable[[list[dict[str, Any]]], None]


@contextmanager
def written_rows(
    out: Path, schema: pa.Schema, made_with: Mapping[str, str | None]
) -> Iterator[Write]:
    """Give a function that adds rows to a file, which appears when it is complete."""
    open_rows = _csv_rows if out.suffix.lower() == ".csv" else _parquet_rows
    with locked(out), open_rows(out, schema, made_with) as write:
        yield write


@contextmanager
def _parquet_rows(
    out: Path, schema: pa.Schema, made_with: Mapping[str, str | None]
) -> Iterator[Write]:
    schema = schema.with_metadata(metadata_of(made_with))
    with written_whole(out, schema) as writer:
        yield lambda records: writer.write_table(pa.Table.from_pylist(records, schema))


@contextmanager
def _csv_rows(out: Path, schema: pa.Schema, made_with: Mapping[str, str | None]) -> Iterator[Write]:
    def flat(records: list[dict[str, Any]]) -> pa.Table:
        table = pa.Table.from_pylist(records, schema)
        return pa.table({name: plain(table[name]) for name in schema.names})

    with whole(out) as partial, pa.csv.CSVWriter(partial, flat([]).schema) as writer:
        yield lambda records: writer.write_table(flat(records))
        write_sidecar(out, made_with)  # not before all rows are there
