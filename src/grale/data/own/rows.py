"""A file or folder of one's own graphs as rows, in the labels of a model that exists."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from grale.data.graph_files import GraphFiles, cell_of, text_of
from grale.data.molecules.lines import NOT_READ
from grale.data.molecules.records import Record
from grale.data.own.graph_set import read_for
from grale.graphs.space import GraphSpace


def open_own(path: Path, space: GraphSpace) -> GraphFiles:
    """Open graphs in any format that `grale prepare graphs` reads."""
    return GraphFiles(path, (path,), partial(_records, space=space))


def _records(path: Path, space: GraphSpace) -> Iterator[Record]:
    for record, item in read_for(path, space.attributes, space.directed):
        entry = f"{NOT_READ}{item}" if isinstance(item, str) else text_of(item)
        yield Record(entry, {name: cell_of(value) for name, value in record.targets.items()})
