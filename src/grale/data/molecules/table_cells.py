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
TAB = "\t"
DELIMITERS = (",", ";", TAB)
_QUOTED = re.compile(r'"[^"]*"')
_WHOLE_QUOTE = re.compile(r'^"([^"]*)"$')


def cells_of(
    stream: TextIOBase, delimiter: str, column: str | None = None, place: int = -1
) -> Iterator[list[str]]:
    """Cells of each row; a csv row continues on the next line only inside a proper quote.

    Entries are in the column of that name in the first row or, without a header, at that place.
    """
    csv.field_size_limit(MAX_CELL)
    lines, waiting = lines_of(stream), deque[str]()
    width = 0

    def take() -> str | None:
        return waiting.popleft() if waiting else next(lines, None)

    while (line := take()) is not None:
        if delimiter == TAB:  # has no quoting, but some programs quote every cell
            cells = [_WHOLE_QUOTE.sub(r"\1", cell) for cell in line.rstrip("\r\n").split(TAB)]
        elif '"' not in line:
            cells = line.rstrip("\r\n").split(delimiter)
        else:
            taken = [line]
            quoted = _quoted_row(taken, iter(take, None), delimiter, place)
            cells = quoted or _unquoted_row(line, delimiter, width)
            waiting.extendleft(reversed(taken[1:]))
        if not width:
            width = len(cells)
            place = cells.index(column) if column in cells else place
        yield cells


def delimiter_of(line: str) -> str:
    """What separates the cells of a csv whose first line this is: the commonest outside quotes.

    >>> [delimiter_of(text) for text in ("a,b", 'id;"IC50, nM, 1";smiles', "smiles")]
    [',', ';', ',']
    """
    bare = _QUOTED.sub("", line)
    return max(DELIMITERS, key=bare.count)  # the first of them if there are as many


def _quoted_row(
    taken: list[str], more: Iterator[str], delimiter: str, place: int
) -> list[str] | None:
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
        cells = next(csv.reader(lines(), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    if place >= 0 and any(mark in cell for cell in cells[place : place + 1] for mark in "\r\n"):
        return None
    del taken[1:]
    return cells


def _unquoted_row(line: str, delimiter: str, width: int) -> list[str]:
    """Cells of a line whose quotes are plain characters; if they do not fit, the line for each."""
    text = line.rstrip("\r\n")
    cells = text.split(delimiter)
    return cells if width in (0, len(cells)) else [text] * width
