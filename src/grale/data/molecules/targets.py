"""One column of numbers beside the molecules of a file: a measured property, or a class.

Every row of the file has a value, in order; NaN where its cell is empty. A cell that is not a
number is an error that names its line. True and false count as 1 and 0. In files with semicolons,
the decimal mark may be a comma.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grale.data.molecules.columns import is_blank
from grale.data.molecules.files import MoleculeFile

TRUTHS = {"true": 1.0, "false": 0.0}
LONGEST_SHOWN = 40


def read_targets(file: MoleculeFile, column: str) -> NDArray[np.float64]:
    """Read the column as numbers, one for each molecule of the file."""
    if file.column is None:
        raise ValueError(f"{file.path}: a {file.kind} file has no columns; give a csv or parquet")
    if file.kind == "parquet":
        return _of_parquet(file.path, column)
    with file.open_text() as stream:
        rows = file.cells(stream)  # the rows that its molecules come from
        place = _place(file.path, next(rows), column)
        cells = [row[place] if place < len(row) else "" for row in rows]
        if file.delimiter == ";" and not any("." in cell for cell in cells):
            cells = [cell.replace(",", ".") for cell in cells]
        lines = enumerate(cells, 2)
        return np.array([_number(cell, file.path, f"line {line}") for line, cell in lines])


def _of_parquet(path: Path, column: str) -> NDArray[np.float64]:
    import pyarrow.parquet as pq

    _place(path, list(pq.read_schema(path).names), column)
    values = pq.read_table(path, columns=[column]).column(column).to_pylist()
    return np.array([_number(value, path, f"row {row}") for row, value in enumerate(values)])


def _place(path: Path, header: list[str], column: str) -> int:
    if header.count(column) == 1:
        return header.index(column)
    shown = ", ".join(repr(name[:LONGEST_SHOWN]) for name in header[:20])
    if column in header:
        raise ValueError(f"{path}: {header.count(column)} columns are called {column!r}")
    close = get_close_matches(column, header, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"{path} has no column {column!r}; its columns are {shown}{hint}")


def _number(value: Any, path: Path, where: str) -> float:
    """Read one cell as a number."""
    if value is None:
        return float("nan")
    text = str(value).strip()
    if is_blank(text):
        return float("nan")
    if text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{path}, {where}: the target {text[:LONGEST_SHOWN]!r} is not a number; write classes "
            "as 0 and 1, and leave a cell empty where nothing is known"
        ) from None
