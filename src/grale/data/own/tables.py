"""Parquet with list columns: a row per graph, columns as in the second form of `json_graphs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grale.data.own.json_graphs import LISTS, lists_of
from grale.graphs.record import GraphRecord, RecordError

ROWS_AT_ONCE = 4_096


def read_parquet_graphs(path: Path) -> Iterator[GraphRecord]:
    """Graphs of a parquet file; columns that are not lists of a graph are its targets."""
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise RecordError(f"{path} is not a parquet file: {error}") from error
    columns = file.schema_arrow.names
    if "edges" not in columns or not set(LISTS) & set(columns) - {"edges"}:
        raise RecordError(
            f"{path} needs a column edges, and node_labels or num_nodes; found {columns[:12]}"
        )
    row = 0
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
        for values in batch.to_pylist():
            present = {name: value for name, value in values.items() if value is not None}
            yield lists_of(present, f"{path}, row {row}")
            row += 1
