"""What all verbs share: the console, progress bars, and settings of this process."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
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

console = Console()
errors = Console(stderr=True)

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed memory instead of handing it back to the system.

    Training frees and takes the same large tensors at every step; fetching their pages anew
    each time costs up to a third of a step. Other C libraries are left as they are.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, -1)  # never


def bar(*columns: str | ProgressColumn) -> Progress:
    """Make a progress bar with time left; `columns` come after the bar."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeLeftColumn(),
        console=console,
    )


class TimeLeftColumn(ProgressColumn):
    """Time left at the rate since the start; rich's own forgets steps of over 30 seconds."""

    def render(self, task: Task) -> Text:
        """Write hours, minutes and seconds, or nothing while nothing is known."""
        if not task.total or not task.completed or not task.elapsed:
            return Text("-:--:--", style="progress.remaining")
        left = max(task.total - task.completed, 0) * task.elapsed / task.completed
        return Text(str(timedelta(seconds=round(left))), style="progress.remaining")


class RateColumn(ProgressColumn):
    """Things per second since the start; shards come too seldom for rich's own, of 30 seconds."""

    def render(self, task: Task) -> Text:
        """Write the rate, with a decimal if it is small."""
        if not task.completed or not task.elapsed:
            return Text("- /s")
        rate = task.completed / task.elapsed
        return Text(f"{rate:,.{0 if rate >= 10 else 1}f}/s")


@contextmanager
def counting(description: str, total: int | None) -> Iterator:
    """Show a bar over `total` things; yields a function that takes how many more are done."""
    with bar(MofNCompleteColumn(), RateColumn()) as progress:
        task = progress.add_task(description, total=total)
        yield lambda count: progress.advance(task, count)


def describe(graph: Graph, space: GraphSpace) -> str:
    """A graph in a few words: its SMILES, or its size."""
    from grale.graphs.molecule import MoleculeError, is_molecular

    if not is_molecular(space):
        return f"{graph.num_nodes} nodes, {graph.num_edges} edges"
    try:
        return graph.to_smiles()
    except MoleculeError as error:
        return str(error)


def table(title: str, rows: list[list[str]]) -> Table:
    """Lay out rows (the first is the header) for printing."""
    result = Table(title=title, title_justify="left")
    for column, heading in enumerate(rows[0]):
        result.add_column(heading, justify="left" if column == 0 else "right")
    for row in rows[1:]:
        result.add_row(*row)
    return result
