"""Rows of csv and tsv files as cells, line by line; an unclosed quote loses no row."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from io import TextIOBase
from itertools import islice

from grale.data.molecules.lines import lines_of

MAX_CELL = 10_000_000  # characters, of a row too; the csv module would stop at ordinary long cells
MAX_LINES = 1_000  # of one quoted cell; a longer one is not a quote
_WHOLE_QUOTE = re.compile(r'^"([^"]*)"$')


def cells_of(stream: TextIOBase, kind: str, column: str | None = None) -> Iterator[list[str]]:
    """Cells of each row; a csv row continues on the next line only inside a proper quote."""
    csv.field_size_limit(MAX_CELL)
    lines, waiting = lines_of(stream), deque[str]()
    width, place = 0, -1

    def take() -> str | None:
        return waiting.popleft() if waiting else next(lines, None)

    while (line := take()) is not None:
        if kind == "tsv":  # has no quoting, but some programs quote every cell
            cells = [_WHOLE_QUOTE.sub(r"\1", cell) for cell in line.rstrip("\r\n").split("\t")]
        elif '"' not in line:
            cells = line.rstrip("\r\n").split(",")
        else:
            taken = [line]
            cells = _quoted_row(taken, iter(take, None), place) or _unquoted_row(line, width)
            waiting.extendleft(reversed(taken[1:]))
        if not width:
            width, place = len(cells), cells.index(column) if column in cells else -1
        yield cells


def _quoted_row(taken: list[str], more: Iterator[str], place: int) -> list[str] | None:
    """Cells of the row that starts with `taken[0]`, or None if its quotes do not close.

    A line break in the entry counts as such a case. `taken` then holds all lines looked at.
    """

    def lines() -> Iterator[str]:
        yield taken[0]
        length = len(taken[0])
        for line in islice(more, MAX_LINES - 1):
            taken.append(line)
            length += len(line)
            if length > MAX_CELL:
                return
            yield line

    try:
        cells = next(csv.reader(lines(), strict=True))
    except csv.Error:
        return None
    if place >= 0 and any(mark in cell for cell in cells[place : place + 1] for mark in "\r\n"):
        return None
    del taken[1:]
    return cells


def _unquoted_row(line: str, width: int) -> list[str]:
    """Cells of a line whose quotes are plain characters; if they do not fit, the line for each."""
    text = line.rstrip("\r\n")
    cells = text.split(",")
    return cells if width in (0, len(cells)) else [text] * width
