"""A folder of files of molecules, read one after the other as if it were one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from grale.data.molecules.columns import Survey, merged_types
from grale.data.molecules.files import (
    FORMATS,
    Chunk,
    MoleculeFile,
    Text,
    chunks,
    kind_of,
    open_molecules,
)
from grale.data.molecules.records import Record


@dataclass(frozen=True)
class MoleculeFolder:
    """Files of one kind in the order of their names."""

    path: Path
    files: tuple[MoleculeFile, ...]

    @property
    def text(self) -> Text:
        """What an entry is."""
        return self.files[0].text

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        return "\n".join(file.name() for file in self.files)

    def count(self) -> int:
        """Estimated rows of all files, for a progress bar."""
        return sum(file.count() for file in self.files)

    def survey(self) -> Survey:
        """Count the rows and find out what the other columns hold; they are those of all files."""
        found = [file.survey() for file in self.files]
        columns = merged_types(each.columns for each in found)
        return Survey(sum(each.num_rows for each in found), columns)

    def rows(self, size: int, columns: Mapping[str, pa.DataType] | None = None) -> Iterator[Chunk]:
        """Entries in order, `size` at a time, across files; see `MoleculeFile.rows`."""
        return chunks(self.records(columns is not None), size, columns or {})

    def records(self, wants_others: bool = True) -> Iterator[Record]:
        """Rows one by one, across files."""
        return chain.from_iterable(file.records(wants_others) for file in self.files)


Molecules = MoleculeFile | MoleculeFolder


def open_file_or_folder(path: Path, column: str | None = None) -> Molecules:
    """Open a file of molecules, or all such files of a folder."""
    if not path.is_dir():
        return open_molecules(path, column)
    found = [
        file for file in sorted(path.iterdir())
        if file.is_file() and not file.name.startswith(("_", ".")) and kind_of(file) in FORMATS
    ]  # fmt: skip
    if not found:
        raise FileNotFoundError(f"{path} holds no file that ends in one of {', '.join(FORMATS)}")
    files = tuple(open_molecules(file, column) for file in found)
    odd = next((file for file in files if file.text != files[0].text), None)
    if odd is not None:
        raise ValueError(
            f"{path} mixes {files[0].kind} and {odd.kind} files ({odd.path.name}); give one kind"
        )
    return MoleculeFolder(path, files)
