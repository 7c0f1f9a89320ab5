"""Any file or folder whose rows a model can take: of molecules, or of graphs as JSON.

molecules.csv:17    row 17 of a file, counted from 0
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from grale.data.graph_files import GraphFiles, open_graphs, parse_graph
from grale.data.molecules.files import (
    GRAPH,
    Text,
    kind_of,
    open_molecules,
    parse,
    read_molecule,
)
from grale.data.molecules.folder import Molecules, open_file_or_folder
from grale.data.own.files import is_graph_file
from grale.data.own.rows import open_own
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.molecules.salts import largest_organic_part
from grale.graphs.space import GraphSpace

TABLES = ("csv", "tsv", "parquet")  # may have a column of graphs as JSON
RowFile = Molecules | GraphFiles


def open_rows(path: Path, space: GraphSpace, column: str | None = None) -> RowFile:
    """Open a file or a folder of what the space holds; of a .npy, the rows beside it."""
    path = _table_of(path)
    if is_molecular(space):
        return open_file_or_folder(path, column)
    if space.attributes is not None and column is None and _holds_own(path):
        return open_own(path, space)
    if kind_of(path) in TABLES and path.is_file():
        return open_molecules(path, column or GRAPH)
    return open_graphs(path, column)


def rows_of(vectors: Path) -> Path:
    """File beside a .npy of `grale embed` with everything but the vectors."""
    return vectors.with_suffix(".rows.csv")


def _table_of(path: Path) -> Path:
    """The file with the entries: that beside a .npy, otherwise the file itself."""
    if path.suffix.lower() != ".npy":
        return path
    if not rows_of(path).is_file():
        raise ValueError(f"{path} holds vectors only: {rows_of(path).name} is not beside it")
    return rows_of(path)


def _holds_own(path: Path) -> bool:
    """Whether a path holds graphs as their owner has them, not as `grale embed` writes them."""
    if kind_of(path) == "parquet" and path.is_file():
        return GRAPH not in pq.read_schema(path).names
    return is_graph_file(path)


def parse_entry(entry: str | None, text: Text) -> Graph | str:
    """Read one entry as a graph, or say in one sentence why that fails."""
    return parse_graph(entry) if text == "graph" else parse(entry, text)


def parse_desalted(entry: str | None, text: Text) -> tuple[Graph | str, str | None]:
    """Read the largest organic part of an entry; also its SMILES, if anything was removed."""
    item = parse_entry(entry, text)
    if entry is None or isinstance(item, str) or text == "graph":
        return item, None
    if text == "smiles" and "." not in entry:
        return item, None
    part = largest_organic_part(read_molecule(entry, text))
    if part is None:
        return item, None
    smiles = to_smiles_of(part)
    return parse(smiles), smiles


def to_smiles_of(molecule: Any) -> str:
    """SMILES of a molecule of RDKit."""
    from rdkit import Chem

    return str(Chem.MolToSmiles(molecule))


def is_row_name(text: str) -> bool:
    """Whether a text such as molecules.csv:17 names a row of an existing file."""
    path, _, row = text.rpartition(":")
    return row.isdecimal() and bool(path) and Path(path).exists()


def named_row(text: str, space: GraphSpace, column: str | None = None) -> Graph:
    """Read the row that a text such as molecules.csv:17 names."""
    path, _, row = text.rpartition(":")
    opened, number = open_rows(Path(path), space, column), int(row)
    found = next(islice(opened.records(False), number, None), None)
    if found is None:
        raise ValueError(
            f"{path} has no row {number}; its {opened.survey().num_rows} rows count from 0"
        )
    item = parse_entry(found.entry, opened.text)
    if isinstance(item, str):
        raise ValueError(f"row {number} of {path} ({str(found.entry)[:60]!r}): {item}")
    return space.named(item)


def stream_good(opened: RowFile, space: GraphSpace) -> Iterator[tuple[int, Graph]]:
    """Rows that the space holds, with their numbers; the others are left out."""
    for number, record in enumerate(opened.records(False)):
        item = parse_entry(record.entry, opened.text)
        if isinstance(item, Graph) and space.why_not(item) is None:
            yield number, space.named(item)
