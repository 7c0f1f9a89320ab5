"""Rows of a file for a map: their descriptions, and the columns or properties to colour them by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.tasks.described_rows import DescribedRows, described_rows
from grale.tasks.properties import is_property, named_property

UNKNOWN = float("nan")


class ColouredRows(NamedTuple):
    """Rows that the model can take, and one value each for every colour."""

    rows: DescribedRows
    colours: dict[str, list[float] | list[str]]
    """Numbers, NaN where a value is not known; or texts, empty where it is not known."""


def coloured_rows(
    model: GraphAutoencoder,
    path: Path,
    colours: Sequence[str],
    most: int | None = None,
    column: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> ColouredRows:
    """Read all rows, or the first `most`; a colour is a column of the file, or else a property."""
    beside = [name for name in colours if not is_property(name)]
    rows = described_rows(model, path, column, beside, most, progress)
    found: dict[str, list[float] | list[str]] = {}
    for name in colours:
        if name in rows.others:
            found[name] = _column(rows.others[name])
        else:
            value = named_property(name)
            found[name] = [value(graph) for graph in rows.graphs]
    return ColouredRows(rows, found)


def _column(values: Sequence[object]) -> list[float] | list[str]:
    if any(isinstance(value, str) for value in values):
        return ["" if value is None else str(value) for value in values]
    return [UNKNOWN if value is None else float(str(value)) for value in values]
