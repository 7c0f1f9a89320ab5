"""Molecules in files: csv, tsv, smi, sdf and parquet, each also as .gz, read as a stream.

Every row of the file becomes one entry, in order, whatever it holds: errors in a row are found when
it is parsed, not here. A blank line is a row with an empty entry. Only a file that cannot be read
at all is an error.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from grale.data.molecules.columns import (
    ColumnTypes,
    Survey,
    as_column,
    find_column,
    is_smiles_name,
    listed,
)
from grale.data.molecules.lines import open_text, why_not_read
from grale.data.molecules.records import (
    MOLBLOCK,
    READERS,
    Record,
    is_desalted,
    parquet_columns,
)
from grale.data.molecules.table_cells import TAB, cells_of, delimiter_of
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, from_molblock, from_smiles

FORMATS = ("csv", "tsv", "smi", "sdf", "parquet")
SAMPLE_BYTES = 4 << 20
MAX_UNPACKED = 16 << 20  # bytes of a sample; a .gz may hold a thousand times its size
DAMAGES = (EOFError, zlib.error, gzip.BadGzipFile)  # what a broken .gz raises

GRAPH = "graph"  # a column of graphs as JSON

Text = Literal["smiles", "molblock", "graph"]
"""What an entry is; "graph" is JSON, of which `grale.data.graph_files` knows."""


class Chunk(NamedTuple):
    """Consecutive rows of a source; `splits` if the source has its own."""

    entries: list[str | None]
    splits: list[str] | None = None
    others: Mapping[str, pa.Array] = {}
    """The columns beside the entries, if they were asked for."""


@dataclass(frozen=True)
class MoleculeFile:
    """One file of molecules, and how to read it."""

    path: Path
    kind: str
    """One of FORMATS."""
    column: str | None = None
    """Column of the SMILES; None for files without columns."""
    delimiter: str = ","
    """Between the cells of a csv or tsv."""
    place: int | None = None
    """Place of that column in a file without a header."""
    has_desalted: bool = False
    """Whether `grale embed --desalt` has written it: salts are left out when it is read."""

    @property
    def text(self) -> Text:
        """What an entry is; tables that `grale embed` has written may hold more than SMILES."""
        if self.column in (MOLBLOCK, GRAPH):
            return "molblock" if self.column == MOLBLOCK else "graph"
        return "molblock" if self.kind == "sdf" else "smiles"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        status = self.path.stat()
        return f"{self.path.resolve()} {status.st_size} {status.st_mtime_ns} {self.column}"

    def open_text(self) -> io.TextIOWrapper:
        """Open as text, whatever its compression and encoding."""
        return open_text(self.path)

    def cells(self, stream: io.TextIOBase) -> Iterator[list[str]]:
        """Header of a csv or tsv, made up if it has none, then the cells of each row."""
        if self.place is None:
            return cells_of(stream, self.delimiter, self.column)
        rows = cells_of(stream, self.delimiter, place=self.place)
        first = next(rows, [])
        return chain([_made_up_header(len(first))], [first] if first else [], rows)

    def count(self) -> int:
        """Rows of the file, for a progress bar; of text files an estimate from the beginning."""
        if self.kind == "parquet":
            return int(pq.read_metadata(self.path).num_rows)
        with self.path.open("rb") as file:
            start = file.read(SAMPLE_BYTES)
        used = len(start)
        if self.path.suffix.lower() == ".gz":
            start, used = _unpacked(start)
        share = max(used, 1) / max(self.path.stat().st_size, 1)
        return round(start.count(b"$$$$" if self.kind == "sdf" else b"\n") / share)

    def survey(self) -> Survey:
        """Count the rows and find out what the other columns hold, in one pass over the file."""
        if self.kind == "parquet":
            return Survey(self.count(), parquet_columns(self))
        types, num_rows = ColumnTypes(decimal_commas=self.delimiter == ";"), 0
        for record in self.records():
            types.see(record.others)
            num_rows += 1
        found = types.found()
        return Survey(num_rows, {n: pa.string() for n in found} if self.kind == "smi" else found)

    def rows(self, size: int, columns: Mapping[str, pa.DataType] | None = None) -> Iterator[Chunk]:
        """Entries in order, `size` at a time; None for a row without an entry.

        `columns` names the other columns to read, with their types; see `survey`.
        """
        return chunks(self.records(columns is not None), size, columns or {})

    def records(self, wants_others: bool = True) -> Iterator[Record]:
        """Rows one by one, or an error that says after how many the file is damaged."""
        done = 0
        try:
            for record in READERS[self.kind](self, wants_others):
                yield record
                done += 1
        except DAMAGES as error:
            raise _damaged(self.path, done, error) from error


def chunks(
    records: Iterable[Record], size: int, columns: Mapping[str, pa.DataType]
) -> Iterator[Chunk]:
    """Rows in pieces of `size`."""
    left = iter(records)
    while piece := list(islice(left, size)):
        others = {
            name: as_column([record.others.get(name) for record in piece], kind)
            for name, kind in columns.items()
        }
        yield Chunk([record.entry for record in piece], None, others)


def _unpacked(start: bytes) -> tuple[bytes, int]:
    """Unpack the first bytes of a .gz, up to a limit; also return how many bytes were used.

    A file that is damaged there fails when it is read.
    """
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(start, MAX_UNPACKED)
    except zlib.error:
        return b"", len(start)
    return content, len(start) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)


def open_molecules(path: Path | str, column: str | None = None) -> MoleculeFile:
    """Find out what a file holds, or raise and say what would help.

    `column` is the name of the column of SMILES, or its number in a file without a header.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file")
    kind = kind_of(path)
    if kind == "parquet" and path.suffix.lower() == ".gz":
        raise ValueError(f"{path}: parquet is compressed inside; unpack the .gz first")
    if kind not in FORMATS:
        raise ValueError(f"{path}: the name should end in one of {', '.join(FORMATS)} (or .gz)")
    if kind in ("smi", "sdf"):
        if column is not None:
            raise ValueError(f"{path}: a {kind} file has no columns, so none is called {column!r}")
        return MoleculeFile(path, kind)
    if kind == "parquet":
        return _with_header(path, kind, _parquet_header(path), column)
    return _open_table(path, kind, column)


def _open_table(path: Path, kind: str, column: str | None) -> MoleculeFile:
    """Find out how the first line of a csv or tsv is cut, and whether it is a header."""
    delimiter = TAB if kind == "tsv" else delimiter_of(_first_line(path))
    header = _first_row(path, delimiter)
    if column is None or not column.isdecimal() or column in header:
        return _with_header(path, kind, header, column, delimiter)
    place = int(column)
    if place >= len(header):
        raise ValueError(
            f"{path} has {len(header)} columns, numbered from 0, and none is number {place}: "
            f"{listed(header)}"
        )
    if is_smiles_name(header[place]):
        return _with_header(path, kind, header, header[place], delimiter)
    return MoleculeFile(path, kind, _made_up_header(place + 1)[place], delimiter, place)


def _with_header(
    path: Path, kind: str, header: list[str], column: str | None, delimiter: str = ","
) -> MoleculeFile:
    found = find_column(path, header, column)
    return MoleculeFile(path, kind, found, delimiter, has_desalted=is_desalted(found, header))


def _made_up_header(width: int) -> list[str]:
    return [f"column_{place}" for place in range(width)]


def kind_of(path: Path) -> str:
    """Format by the name of a file; it may not be one of FORMATS."""
    suffixes = [suffix.lstrip(".").lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return {"txt": "smi", "sd": "sdf", "pq": "parquet", "tab": "tsv"}.get(last, last)


def parse(entry: Any, text: Text = "smiles") -> Graph | str:
    """Read one entry as a graph, or say in one sentence why that fails."""
    if entry is None:
        return "the row has no entry"
    if isinstance(entry, str) and (reason := why_not_read(entry)):
        return reason
    try:
        return from_smiles(entry) if text == "smiles" else from_molblock(entry)
    except MoleculeError as error:
        return str(error)


def read_molecule(entry: str, text: Text) -> Any:
    """RDKit's molecule of an entry that :func:`parse` has accepted."""
    from rdkit import Chem

    return Chem.MolFromSmiles(entry.strip()) if text == "smiles" else Chem.MolFromMolBlock(entry)


def _first_line(path: Path) -> str:
    try:
        with open_text(path) as stream:
            return stream.readline(MAX_UNPACKED)
    except DAMAGES as error:
        raise _damaged(path, 0, error) from error


def _first_row(path: Path, delimiter: str) -> list[str]:
    try:
        with open_text(path) as stream:
            for header in cells_of(stream, delimiter):
                if reason := why_not_read(header[0]):
                    raise ValueError(f"{path}, line 1: {reason}")
                return header
    except DAMAGES as error:
        raise _damaged(path, 0, error) from error
    raise ValueError(f"{path} is empty")


def _damaged(path: Path, rows: int, error: Exception) -> ValueError:
    line = next(iter(str(error).splitlines()), "")
    return ValueError(
        f"{path} is cut short or damaged after {rows} rows ({line}); download or pack it again"
    )


def _parquet_header(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, 0, error) from error
