"""A measured property: a column of numbers beside the molecules or graphs of a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from grale.data.molecules.columns import listed
from grale.data.row_files import open_rows, parse_entry
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.tasks.properties import is_property


@dataclass(frozen=True)
class Measured:
    """Graphs of a file with their values."""

    values: dict[Graph, float]

    def of(self, graph: Graph) -> float:
        """What was measured for a graph; NaN if it is not in the file."""
        return self.values.get(graph, math.nan)


def measured_property(
    path: Path, name: str, space: GraphSpace, most: int, column: str | None = None
) -> Measured | None:
    """Read the first `most` graphs of a file that a model can take and whose value is known.

    `name` is the column of the values, `column` that of the SMILES. None if the file has no column
    of that name, but a property is called so.
    """
    opened = open_rows(path, space, column)
    columns = opened.survey().columns
    if name not in columns:
        if is_property(name):
            return None
        raise ValueError(
            f"{name!r} is not a property, and {path} has no such column; it has "
            f"{listed(list(columns))}"
        )
    found: dict[Graph, float] = {}
    for chunk in opened.rows(4_096, {name: columns[name]}):
        for entry, value in zip(chunk.entries, chunk.others[name].to_pylist()):
            item = parse_entry(entry, opened.text)
            if value is None or isinstance(item, str) or space.why_not(item) is not None:
                continue
            if isinstance(value, str):
                raise ValueError(f"{path}: the column {name!r} holds texts, not numbers only")
            found.setdefault(item, float(value))
            if len(found) == most:
                return Measured(found)
    return Measured(found)
