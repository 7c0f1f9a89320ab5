"""Molecules in files: csv, tsv, smi, sdf and parquet, each also as .gz, read as a stream.

Every row of the file becomes one entry, in order, whatever it holds: errors in a row are found when
it is parsed, not here. A blank line is a row with an empty entry. Only a file that cannot be read
at all is an error.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grale.data.molecules.lines import lines_of, open_text, sdf_entries, why_not_read
from grale.data.molecules.table_cells import cells_of
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, from_molblock, from_smiles

SMILES_NAMES = ("smiles", "canonical_smiles", "isomeric_smiles", "smile", "mol", "structure")
"""Column names to look for if none is given, in upper or lower case; the first found is used."""
FORMATS = ("csv", "tsv", "smi", "sdf", "parquet")
TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "null")
SAMPLE_BYTES = 4 << 20
MAX_UNPACKED = 16 << 20  # bytes of a sample; a .gz may hold a thousand times its size
DAMAGES = (EOFError, zlib.error, gzip.BadGzipFile)  # what a broken .gz raises

Text = Literal["smiles", "molblock"]


class Chunk(NamedTuple):
    """Consecutive rows of a source; `splits` if the source has its own."""

    entries: list[str | None]
    splits: list[str] | None = None


@dataclass(frozen=True)
class MoleculeFile:
    """One file of molecules, and how to read it."""

    path: Path
    kind: str
    """One of FORMATS."""
    column: str | None = None
    """Column of the SMILES; None for files without columns."""

    @property
    def text(self) -> Text:
        """What an entry is."""
        return "molblock" if self.kind == "sdf" else "smiles"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        status = self.path.stat()
        return f"{self.path.resolve()} {status.st_size} {status.st_mtime_ns} {self.column}"

    def open_text(self) -> io.TextIOWrapper:
        """Open as text, whatever its compression and encoding."""
        return open_text(self.path)

    def count(self) -> int:
        """Rows of the file, for a progress bar; of text files an estimate from the beginning."""
        if self.kind == "parquet":
            import pyarrow.parquet as pq

            return int(pq.read_metadata(self.path).num_rows)
        with self.path.open("rb") as file:
            start = file.read(SAMPLE_BYTES)
        used = len(start)
        if self.path.suffix.lower() == ".gz":
            start, used = _unpacked(start)
        share = max(used, 1) / max(self.path.stat().st_size, 1)
        return round(start.count(b"$$$$" if self.kind == "sdf" else b"\n") / share)

    def rows(self, size: int) -> Iterator[Chunk]:
        """Entries in order, `size` at a time; None for a row without an entry."""
        entries = self._entries()
        while chunk := list(islice(entries, size)):
            yield Chunk(chunk)

    def _entries(self) -> Iterator[str | None]:
        done = 0
        try:
            for entry in _READERS[self.kind](self):
                yield entry
                done += 1
        except DAMAGES as error:
            raise _damaged(self.path, done, error) from error


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
    """Find out what a file holds, or raise and say what would help."""
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
    return MoleculeFile(path, kind, _find_column(path, _header(path, kind), column))


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


def _find_column(path: Path, header: list[str], wanted: str | None) -> str:
    if wanted is None:
        plain = [name.strip().lower() for name in header]
        known = next((name for name in SMILES_NAMES if name in plain), None)
        if known is None:
            raise ValueError(
                f"{path}: no column is called {SMILES_NAMES[0]!r} or similar; its columns are "
                f"{_listed(header)}; name the one to read (--column)"
            )
        found = sorted({name for name, lower in zip(header, plain) if lower == known})
        if len(found) > 1:
            names = f"{len(found)} columns are called {known!r}, ignoring case: {_listed(found)}"
            raise ValueError(f"{path}: {names}; name the one to read (--column)")
        wanted = found[0]
    if header.count(wanted) != 1:
        times = "no column is" if wanted not in header else f"{header.count(wanted)} columns are"
        raise ValueError(f"{path}: {times} called {wanted!r}; its columns are {_listed(header)}")
    return wanted


def _listed(header: list[str]) -> str:
    shown = ", ".join(repr(name[:40]) for name in header[:20])
    return shown + (" ..." if len(header) > 20 else "")


def _header(path: Path, kind: str) -> list[str]:
    if kind == "parquet":
        return _parquet_header(path)
    try:
        with open_text(path) as stream:
            for header in cells_of(stream, kind):
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


def _read_table(file: MoleculeFile) -> Iterator[str | None]:
    with open_text(file.path) as stream:
        rows = cells_of(stream, file.kind, file.column)
        place = next(rows).index(str(file.column))
        for row in rows:
            entry = row[place] if place < len(row) else None
            is_one = len(row) == 1 and (not row[0] or why_not_read(row[0]))
            yield row[0] if is_one else entry


def _read_smi(file: MoleculeFile) -> Iterator[str | None]:
    """One molecule per line; a name may follow. PubChem's dump starts with its number."""
    with open_text(file.path) as stream:
        for line in lines_of(stream):
            text = line.strip(" \r\n")
            cells = [text] if why_not_read(text) else re.split("[ \t]+", text)
            yield cells[1] if cells[0].isdigit() and len(cells) > 1 else cells[0]


def _read_sdf(file: MoleculeFile) -> Iterator[str | None]:
    with open_text(file.path) as stream:
        yield from sdf_entries(stream)


def _parquet_header(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, 0, error) from error


def _read_parquet(file: MoleculeFile) -> Iterator[str | None]:
    import pyarrow as pa

    try:
        yield from _parquet_entries(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise EOFError(error) from error  # one of DAMAGES


def _parquet_entries(file: MoleculeFile) -> Iterator[str | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(file.path)
    kind = parquet.schema_arrow.field(str(file.column)).type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if str(plain) not in TEXT_TYPES:
        raise ValueError(f"{file.path}: column {file.column!r} holds {kind}, not text")
    for batch in parquet.iter_batches(batch_size=8_192, columns=[file.column]):
        values = batch.column(0)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        for value in values.cast(pa.large_binary()).to_pylist():
            yield None if value is None else value.decode(errors="backslashreplace")


_READERS: dict[str, Callable[[MoleculeFile], Iterator[str | None]]] = {
    "csv": _read_table,
    "tsv": _read_table,
    "smi": _read_smi,
    "sdf": _read_sdf,
    "parquet": _read_parquet,
}
