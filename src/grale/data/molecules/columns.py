"""Columns of a table of molecules: which holds the SMILES, and what the others hold.

A column of text is one of numbers if every cell that is not blank is a number as programs write
them; so an id such as 007 stays as it is. In files with semicolons, the decimal mark of a column
may be a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

SMILES_NAMES = (
    "smiles", "canonical_smiles", "isomeric_smiles", "connectivity_smiles", "smile", "mol",
    "structure", "molblock",
)  # fmt: skip
"""Column names to look for if none is given; case, spaces and marks do not matter. The last is for
molecules as in .sdf files."""
BLANKS = ("", "nan", "na", "n/a", "none", "null")
_SWAP = str.maketrans(",.", ".,")
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)?(\.\d*)?([eE][-+]?\d{1,3})?")


class Survey(NamedTuple):
    """What one pass over a file finds out."""

    num_rows: int
    columns: dict[str, pa.DataType]
    """The columns beside the entries, in order, with their types."""


def find_column(path: Path, header: list[str], wanted: str | None) -> str:
    """Name of the column of the SMILES, or an error that lists the columns."""
    if wanted is None:
        found = _smiles_columns(header)
        if not found:
            raise ValueError(
                f"{path}: no column is called {SMILES_NAMES[0]!r} or similar; its columns are "
                f"{listed(header)}; name the one to read (--column), or give its number if the "
                "file has no header (--column 0)"
            )
        if len(found) > 1:
            names = f"{len(found)} columns may hold the SMILES, ignoring case: {listed(found)}"
            raise ValueError(f"{path}: {names}; name the one to read (--column)")
        wanted = found[0]
    if header.count(wanted) != 1:
        times = "no column is" if wanted not in header else f"{header.count(wanted)} columns are"
        raise ValueError(f"{path}: {times} called {wanted!r}; its columns are {listed(header)}")
    return wanted


def _smiles_columns(header: list[str]) -> list[str]:
    """Columns with the first of the usual names that occurs, or all that speak of SMILES."""
    plain = {name: plain_name(name) for name in header}
    for usual in SMILES_NAMES:
        found = sorted(name for name, short in plain.items() if short == plain_name(usual))
        if found:
            return found
    return sorted(name for name, short in plain.items() if "smiles" in short)


def plain_name(name: str) -> str:
    """A name without case, spaces and marks.

    >>> plain_name(" Canonical SMILES")
    'canonicalsmiles'
    """
    return re.sub(r"[\W_]+", "", name).lower()


def is_smiles_name(name: str) -> bool:
    """Whether a cell is the name of a column of SMILES; none of these names is a SMILES."""
    return plain_name(name) in map(plain_name, SMILES_NAMES)


def listed(header: Sequence[str]) -> str:
    """The first columns, for a message."""
    shown = ", ".join(repr(name[:40]) for name in header[:20])
    return shown + (" ..." if len(header) > 20 else "")


def unique_names(header: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Names for the columns of an output: none is empty, repeated or taken.

    >>> unique_names(["", "y", "y", "row"], taken=["row"])
    ['column_0', 'y', 'y_2', 'input_row']
    """
    used, names = set(taken), []
    for place, name in enumerate(header):
        name = name.strip() or f"column_{place}"
        name = f"input_{name}" if name in set(taken) else name
        number, first = 2, name
        while name in used:
            name, number = f"{first}_{number}", number + 1
        used.add(name)
        names.append(name)
    return names


class ColumnTypes:
    """Finds the narrowest type of each column while rows of text pass by.

    With `decimal_commas`, a column whose decimal mark is a comma in every cell is one of numbers.

    >>> types = ColumnTypes(decimal_commas=True)
    >>> types.see({"commas": "5,5", "points": "5.5", "both": "5,5"})
    >>> types.see({"commas": "6", "points": "6", "both": "5.5"})
    >>> [str(kind) for kind in types.found().values()]
    ['double', 'double', 'string']
    """

    def __init__(self, decimal_commas: bool = False) -> None:
        self.types: dict[str, pa.DataType | None] = {}
        self.swapped = ColumnTypes() if decimal_commas else None
        """The types if each comma were a point and each point a comma."""

    def see(self, values: Mapping[str, str | None]) -> None:
        """Look at one row."""
        for name, text in values.items():
            known = self.types.setdefault(name, None)
            if known != pa.string():
                self.types[name] = _wider(known, text)
        if self.swapped is not None:
            self.swapped.see({n: text and text.translate(_SWAP) for n, text in values.items()})

    def found(self) -> dict[str, pa.DataType]:
        """Type of each column; text for one that is blank."""
        found = {name: kind or pa.string() for name, kind in self.types.items()}
        if self.swapped is not None:
            texts = [name for name, kind in found.items() if kind == pa.string()]
            found |= {name: self.swapped.found()[name] for name in texts}
        return found


def _wider(known: pa.DataType | None, text: str | None) -> pa.DataType | None:
    if is_blank(text):
        return known
    plain = str(text).strip()
    if known != pa.float64() and _INTEGER.fullmatch(plain):
        return pa.int64()
    is_number = any(digit.isdigit() for digit in plain) and _NUMBER.fullmatch(plain)
    return pa.float64() if is_number else pa.string()


def is_blank(text: str | None) -> bool:
    """Whether a cell stands for a missing value."""
    return text is None or text.strip().lower() in BLANKS


def merged_types(found: Iterable[Mapping[str, pa.DataType]]) -> dict[str, pa.DataType]:
    """Columns of several files as one table: text where their types differ."""
    merged: dict[str, pa.DataType] = {}
    numbers = {pa.int64(), pa.float64()}
    for columns in found:
        for name, kind in columns.items():
            before = merged.get(name, kind)
            both = {before, kind}
            same = kind if len(both) == 1 else pa.float64() if both == numbers else pa.string()
            merged[name] = same
    return merged


def as_column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values, text included, as a column of that type; numbers may have decimal commas."""
    if kind in (pa.int64(), pa.float64()):
        make = int if kind == pa.int64() else float
        values = [_number(value, make) if isinstance(value, str) else value for value in values]
    elif kind == pa.string():
        values = [value if value is None or isinstance(value, str) else str(value)
                  for value in values]  # fmt: skip
    return pa.array(values, kind)


def _number(text: str, make: type[int] | type[float]) -> Any:
    return None if is_blank(text) else make(text.replace(",", "."))
