"""What all verbs share: printing, progress bars, and settings of this process.

Printed text may hold users' data: SMILES in brackets, file names, labels. So nothing is read as
markup or as the name of an emoji, nothing is cut, and control characters are shown, not executed.
`say` prints a line, `show` a table, and nothing else prints.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from grale.graphs.graph import Graph
    from grale.graphs.space import GraphSpace

console = Console(markup=False, emoji=False, highlight=False)
errors = Console(stderr=True, markup=False, emoji=False, highlight=False)
WIDE = 10_000  # columns of a table that does not go to a terminal: nothing is folded

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed memory instead of returning it to the system.

    Training frees and allocates the same large tensors at every step; getting new pages each time
    costs up to a third of a step. With other C libraries, this does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, -1)  # never


def say(text: str, style: str | None = None) -> None:
    """Print one line letter for letter, however long it is."""
    console.print(Text(printable(text)), style=style, soft_wrap=True)


def complain(text: str) -> None:
    """Print one line to the error stream, letter for letter."""
    errors.print(Text(printable(text)), style="red", soft_wrap=True)


def show(title: str, rows: list[list[str]]) -> None:
    """Print a table whose first row is the header; long cells are folded, never cut."""
    laid_out = Table(title=Text(printable(title)), title_justify="left")
    for column, heading in enumerate(rows[0]):
        justify: JustifyMethod = "left" if column == 0 else "right"
        laid_out.add_column(Text(printable(heading)), justify=justify, overflow="fold")
    for row in rows[1:]:
        laid_out.add_row(*(Text(printable(cell)) for cell in row))
    is_watched = console.is_terminal or "COLUMNS" in os.environ
    printer = console if is_watched else Console(file=console.file, width=WIDE)
    printer.print(laid_out)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show that work is going on; yields a function that changes the text."""
    with console.status(Text(printable(text))) as status:
        yield lambda other: status.update(Text(printable(other)))


def printable(text: str) -> str:
    r"""Replace control characters, which a terminal would execute, by their escapes.

    >>> print(printable("a" + chr(27) + "[31m"))
    a\x1b[31m
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text
    )


def bar(*columns: str | ProgressColumn) -> Progress:
    """Make a progress bar with time left; `columns` come after the bar."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        TimeLeftColumn(),
        console=console,
    )


class TimeLeftColumn(ProgressColumn):
    """Time left at the rate since the start; rich's own forgets steps of over 30 seconds."""

    def render(self, task: Task) -> Text:
        """Write hours, minutes and seconds, or nothing as long as it is unknown."""
        if not task.total or not task.completed or not task.elapsed:
            return Text("-:--:--", style="progress.remaining")
        left = max(task.total - task.completed, 0) * task.elapsed / task.completed
        return Text(str(timedelta(seconds=round(left))), style="progress.remaining")


class RateColumn(ProgressColumn):
    """Items per second since the start; shards come too rarely for rich's 30 seconds."""

    def render(self, task: Task) -> Text:
        """Write the rate, with a decimal if it is small."""
        if not task.completed or not task.elapsed:
            return Text("- /s")
        rate = task.completed / task.elapsed
        return Text(f"{rate:,.{0 if rate >= 10 else 1}f}/s")


@contextmanager
def counting(description: str, total: int | None) -> Iterator:
    """Show a bar over `total` items; call the yielded function with how many more are done."""
    with bar(MofNCompleteColumn(), RateColumn()) as progress:
        task = progress.add_task(description, total=total)
        yield lambda count: progress.advance(task, count)


def graph_text(graph: Graph, space: GraphSpace) -> str:
    """A graph in a few words: its SMILES, or its size."""
    from grale.graphs.molecules.molecule import MoleculeError, is_molecular

    if not is_molecular(space):
        return f"{graph.num_nodes} nodes, {graph.num_edges} edges{_label_counts(graph, space)}"
    try:
        return graph.to_smiles()
    except MoleculeError as error:
        return str(error)


def _label_counts(graph: Graph, space: GraphSpace) -> str:
    """How many nodes have each label, if labels have names: ": C 3, N 1"."""
    known = space.attributes
    if known is None or known.nodes is None:
        return ""
    counts = Counter(known.node_text(label) for label in graph.node_labels.tolist())
    return ": " + ", ".join(f"{name} {count}" for name, count in counts.most_common())
