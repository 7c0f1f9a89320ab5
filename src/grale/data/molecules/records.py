"""Rows of files of molecules, with all they hold beside the molecule, as a stream.

csv, tsv   the other cells of the row
smi        `name`: what follows the SMILES, or PubChem's number in front of it
sdf        `name`: the title line, and the data fields
parquet    the other columns, except those that `grale embed` has added

The molecule of a row that `grale embed --desalt` has written is the one that was embedded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from grale.data.molecules.columns import unique_names
from grale.data.molecules.lines import lines_of, open_text, sdf_entries, why_not_read

if TYPE_CHECKING:
    from grale.data.molecules.files import MoleculeFile

NAME = "name"
SMILES, MOLBLOCK = "smiles", "molblock"  # what `grale embed` calls the column of entries
DESALTED = "desalted"
"""Column of `grale embed --desalt`: SMILES of what was embedded, where a salt was removed."""
ADDED = ("row", "embedding", "description", DESALTED, "status", "reason")
"""Columns that `grale embed` adds to those of its input."""
GRALE_KEY = b"grale"
"""Key of the metadata of a parquet file that this package has written."""
TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "null")
BATCH_ROWS = 8_192
_FIELD = re.compile(r"^>.*?<([^>]*)>")


class Record(NamedTuple):
    """One row of a file."""

    entry: str | None
    others: Mapping[str, Any]


def _read_table(file: MoleculeFile, wants_others: bool) -> Iterator[Record]:
    with open_text(file.path) as stream:
        rows = file.cells(stream)
        header = next(rows)
        place = header.index(str(file.column))
        kept = header.index(DESALTED) if file.has_desalted else None
        names = unique_names(header)
        del names[place]
        for row in rows:
            entry = row[place] if place < len(row) else None
            is_one = len(row) == 1 and (not row[0] or why_not_read(row[0]))
            if kept is not None and kept < len(row):
                entry = _embedded(entry, row[kept], file)
            if not wants_others or is_one:
                yield Record(row[0] if is_one else entry, {})
                continue
            others = row[:place] + row[place + 1 :]
            yield Record(entry, dict(zip(names, others)))


def _read_smi(file: MoleculeFile, wants_others: bool) -> Iterator[Record]:
    """One molecule per line; a name may follow. PubChem's dump starts with its number."""
    with open_text(file.path) as stream:
        for line in lines_of(stream):
            text = line.strip(" \r\n")
            cells = [text] if why_not_read(text) else re.split("[ \t]+", text, maxsplit=1)
            if cells[0].isdigit() and len(cells) > 1:
                number, (entry, *rest) = cells[0], re.split("[ \t]+", cells[1], maxsplit=1)
                name = " ".join([number, *rest])
            else:
                entry, name = cells[0], cells[1].strip() if len(cells) > 1 else ""
            yield Record(entry, {NAME: name} if wants_others and name else {})


def _read_sdf(file: MoleculeFile, wants_others: bool) -> Iterator[Record]:
    with open_text(file.path) as stream:
        for entry in sdf_entries(stream):
            wanted = wants_others and not why_not_read(entry)
            yield Record(entry, _sdf_fields(entry) if wanted else {})


def _sdf_fields(entry: str) -> dict[str, str]:
    """Title and data fields of one entry."""
    lines = entry.splitlines()
    found = {NAME: lines[0].strip()} if lines and lines[0].strip() else {}
    field = None
    for line in lines[4:]:
        if match := _FIELD.match(line):
            field = match[1].strip() or None
            if field is not None:
                found.setdefault(field, "")
        elif not line.strip():
            field = None
        elif field is not None:
            found[field] = f"{found[field]}\n{line}" if found[field] else line
    return found


def _read_parquet(file: MoleculeFile, wants_others: bool) -> Iterator[Record]:
    try:
        yield from _parquet_records(file, wants_others)
    except (pa.ArrowInvalid, OSError) as error:
        raise EOFError(error) from error  # what a damaged file raises


def _parquet_records(file: MoleculeFile, wants_others: bool) -> Iterator[Record]:
    parquet = pq.ParquetFile(file.path)
    kind = parquet.schema_arrow.field(str(file.column)).type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if str(plain) not in TEXT_TYPES:
        raise ValueError(f"{file.path}: column {file.column!r} holds {kind}, not text")
    others = list(parquet_columns(file)) if wants_others else []
    read = [file.column, *others]
    if file.has_desalted and DESALTED not in others:
        read.append(DESALTED)
    for batch in parquet.iter_batches(BATCH_ROWS, columns=read):
        values = batch.column(str(file.column))
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        entries = values.cast(pa.large_binary()).to_pylist()
        beside = [batch.column(name).to_pylist() for name in others]
        kept = batch.column(DESALTED).to_pylist() if file.has_desalted else [None] * len(entries)
        for row, entry in enumerate(entries):
            text = None if entry is None else entry.decode(errors="backslashreplace")
            text = _embedded(text, kept[row], file)
            yield Record(text, {name: rows[row] for name, rows in zip(others, beside)})


def is_desalted(column: str, header: list[str]) -> bool:
    """Whether `grale embed --desalt` has written a table, and its entries are in that column."""
    return column in (SMILES, MOLBLOCK) and {DESALTED, "status", "reason"} <= {*header}


def _embedded(entry: str | None, kept: str | None, file: MoleculeFile) -> str | None:
    """What was embedded of an entry: all of it, or the SMILES that was kept, as entries are."""
    if not kept:
        return entry
    if file.text == "smiles":
        return kept
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(kept)
    return kept if molecule is None else str(Chem.MolToMolBlock(molecule))


def parquet_columns(file: MoleculeFile) -> dict[str, pa.DataType]:
    """Columns of a parquet file beside its entries, with their types."""
    schema = pq.read_schema(file.path)
    added = ADDED if GRALE_KEY in (schema.metadata or {}) else ()
    return {
        field.name: field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        for field in schema
        if field.name not in (file.column, *added) and schema.names.count(field.name) == 1
    }


READERS: dict[str, Callable[[MoleculeFile, bool], Iterator[Record]]] = {
    "csv": _read_table,
    "tsv": _read_table,
    "smi": _read_smi,
    "sdf": _read_sdf,
    "parquet": _read_parquet,
}
