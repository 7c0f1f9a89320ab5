"""Files of new graphs, written as they are drawn: .smi, .csv, .parquet or .jsonl.

All but .smi have one row per drawn graph, valid or not. A .smi file cannot say that a molecule is
not valid: it holds the valid ones, each with the number of its row as its name. Every file says
which model and prior made it: parquet in its metadata, the others in OUT.json beside them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grale.files import whole
from grale.tasks.vector_output import metadata_of, write_sidecar

Write = Callable[[dict[str, Any]], None]
MadeWith = Mapping[str, str | None]
COLUMNS = ("row", "smiles", "valid", "reason", "meets")
GRAPH_COLUMNS = ("node_labels", "edges", "edge_labels")
GRAPHS_ONLY = ".jsonl"  # the format for graphs that are not molecules
ROWS = 4_096  # of a row group


def check_format(out: Path, has_smiles: bool) -> None:
    """Raise, before any work is done, unless the name of the output asks for a known format."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder; give the name of a file")
    kind = out.suffix.lower()
    known = list(WRITERS) if has_smiles else [GRAPHS_ONLY]
    if kind not in known:
        raise ValueError(f"{out}: cannot write {kind or 'this'}; choose {', '.join(known)}")


@contextmanager
def open_writer(out: Path, numbers: Sequence[str], made_with: MadeWith) -> Iterator[Write]:
    """Yield a function that writes a row.

    `numbers` are the columns besides the usual ones; `made_with` says which model made the graphs.
    """
    kind = out.suffix.lower()
    with whole(out) as partial, WRITERS[kind](partial, numbers, made_with) as write:
        yield write
    if kind != ".parquet":
        write_sidecar(out, made_with)


@contextmanager
def _smi(path: Path, numbers: Sequence[str], made_with: MadeWith) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as file:

        def write(record: dict[str, Any]) -> None:
            if record["valid"]:
                file.write(f"{record['smiles']} {record['row']}\n")

        yield write


@contextmanager
def _csv(path: Path, numbers: Sequence[str], made_with: MadeWith) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        columns = [*COLUMNS, *numbers]
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        yield writer.writerow


@contextmanager
def _jsonl(path: Path, numbers: Sequence[str], made_with: MadeWith) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as file:

        def write(record: dict[str, Any]) -> None:
            kept = {name: record[name] for name in (*COLUMNS, *GRAPH_COLUMNS, *numbers)}
            if kept["smiles"] is None:
                del kept["smiles"]
            file.write(json.dumps(kept) + "\n")

        yield write


@contextmanager
def _parquet(path: Path, numbers: Sequence[str], made_with: MadeWith) -> Iterator[Write]:
    kinds = {"row": pa.int64(), "valid": pa.bool_(), "meets": pa.bool_()}
    fields = [(name, kinds.get(name, pa.string())) for name in COLUMNS]
    columns = [*fields, *((name, pa.float64()) for name in numbers)]
    schema = pa.schema(columns, metadata=metadata_of(made_with))
    waiting: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:

        def write(record: dict[str, Any]) -> None:
            waiting.append(record)
            if len(waiting) == ROWS:
                flush()

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(waiting, schema))
            waiting.clear()

        yield write
        flush()


WRITERS: dict[str, Callable[[Path, Sequence[str], MadeWith], Any]] = {
    ".smi": _smi,
    ".csv": _csv,
    ".parquet": _parquet,
    ".jsonl": _jsonl,
}
"""How each format is written, by the end of the file's name."""
