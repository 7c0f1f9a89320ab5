"""A folder of files of molecules, read one after the other as if it were one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from grale.data.molecules.files import (
    FORMATS,
    Chunk,
    MoleculeFile,
    Text,
    kind_of,
    open_molecules,
)


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

    def rows(self, size: int) -> Iterator[Chunk]:
        """Entries in order, `size` at a time, across files."""
        entries = chain.from_iterable(
            chunk.entries for file in self.files for chunk in file.rows(size)
        )
        while chunk := list(islice(entries, size)):
            yield Chunk(chunk)


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
