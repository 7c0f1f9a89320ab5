"""Lines of text files and entries of SDF files, in little memory, whatever the file holds.

An entry that is too long, merged or cut off is replaced by a text that starts with NOT_READ and
says why; `grale.data.molecules.files.parse` returns it as the reason of the row.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from grale.graphs.molecules.molecule import MAX_BLOCK_LENGTH

MAX_LINE = 1_000_000  # characters
NOT_READ = "not read: "
SEPARATOR, END_OF_MOLECULE = "$$$$", "M  END"


def open_text(path: Path) -> io.TextIOWrapper:
    """Open as text; bytes that are not text are kept and reported with their row."""
    opener: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else io.open
    buffered = io.BufferedReader(opener(path, "rb"))
    mark = buffered.peek(2)[:2]
    encoding = "utf-16" if mark in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return io.TextIOWrapper(buffered, encoding, errors="backslashreplace", newline="")


def lines_of(stream: io.TextIOBase, most: int | None = None) -> Iterator[str]:
    """Lines of a file with their ends; one of more than `most` characters becomes a message."""
    most = MAX_LINE if most is None else most
    size = most + 2  # a line and its end
    is_open = after_return = False
    for piece in iter(partial(stream.readline, size), ""):
        if after_return and piece == "\n":  # the rest of a "\r\n" that was cut in two
            after_return = False
            continue
        if not is_open and (len(piece) <= most or len(piece.rstrip("\r\n")) <= most):
            yield piece
        elif not is_open:
            yield f"{NOT_READ}the line has more than {most} characters\n"
        is_open = len(piece) == size and piece[-1] not in "\r\n"
        after_return = len(piece) == size and piece[-1] == "\r"


def why_not_read(entry: str) -> str | None:
    """Why an entry was not read, or None if it was; a molecule's name may look like a reason."""
    is_reason = entry.startswith(NOT_READ) and "\n" not in entry
    return entry.removeprefix(NOT_READ) if is_reason else None


def sdf_entries(stream: io.TextIOBase) -> Iterator[str]:
    """Entries of an SDF file; each ends with a line $$$$."""
    lines: list[str] = []
    length = num_molecules = 0
    for line in lines_of(stream):
        if line.startswith(SEPARATOR):
            yield _entry(lines, length, num_molecules)
            lines, length, num_molecules = [], 0, 0
            continue
        length += len(line)
        num_molecules += line.rstrip() == END_OF_MOLECULE
        if length <= MAX_BLOCK_LENGTH:
            lines.append(line)
    text = "".join(lines).rstrip()
    if text and not text.endswith(
        f"\n{END_OF_MOLECULE}"
    ):  # otherwise a single molecule, as in .mol files
        yield f"{NOT_READ}the entry is cut off: the file ends before a line {SEPARATOR}"
    elif text:
        yield _entry(lines, length, num_molecules)


def _entry(lines: list[str], length: int, num_molecules: int) -> str:
    if num_molecules > 1:
        missing = f"a line {SEPARATOR} is missing between them"
        return f"{NOT_READ}the entry holds {num_molecules} molecules; {missing}"
    if length > MAX_BLOCK_LENGTH:
        return f"{NOT_READ}the entry has {length} characters, more than {MAX_BLOCK_LENGTH}"
    return "".join(lines)
