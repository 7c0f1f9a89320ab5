"""Rows of a file for a map: their descriptions, and the columns or properties to colour them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.tasks.described_rows import DescribedRows, described_rows
from grale.tasks.properties import is_property, named_property

UNKNOWN = float("nan")
ID_NAMES = ("id", "identifier", "compoundid", "moleculeid", "compound", "title", "name")


class ColouredRows(NamedTuple):
    """Rows that the model can take, and one value each for every colour."""

    rows: DescribedRows
    colours: dict[str, list[float] | list[str]]
    """Numbers, NaN where a value is not known; or texts, empty where it is not known."""
    ids: list[str]
    """The file's own ids; numbers of the rows if there is no column of ids."""


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

    def is_welcome(name: str) -> bool:
        return is_id(name) or name in colours

    rows = described_rows(model, path, column, beside, most, progress, is_welcome)
    found: dict[str, list[float] | list[str]] = {}
    for name in colours:
        if name in rows.others:
            found[name] = colour_values(rows.others[name])
        else:
            value = named_property(name)
            found[name] = [value(graph) for graph in rows.graphs]
    return ColouredRows(rows, found, ids_of(rows.others, rows.numbers.tolist()))


def is_id(name: str) -> bool:
    """Whether a column of this name holds what people call their molecules by.

    >>> [is_id(name) for name in ("ID", "Compound_ID", "name", "pIC50", "acid")]
    [True, True, True, False, False]
    """
    return "".join(filter(str.isalpha, name.lower())) in ID_NAMES


def ids_of(columns: Mapping[str, Sequence[object]], numbers: Sequence[int]) -> list[str]:
    """What users call the rows, by the column of ids that tells most of them apart.

    Ids that come again stay as they are. Without such a column, rows have their numbers.

    >>> ids_of({"name": ["a", "a", "a"], "ID": ["x", None, "x y"]}, [0, 1, 5])
    ['x', 'row 1', 'x y']
    >>> ids_of({"name": ["a", "a"]}, [0, 5])
    ['0', '5']
    """
    found = [
        ["" if value is None else str(value).strip() for value in values]
        for name, values in columns.items()
        if is_id(name)
    ]
    best = max(found, key=lambda texts: len(set(texts) - {""}), default=[])
    if len(set(best) - {""}) < 2:
        return [str(number) for number in numbers]
    return [text or f"row {number}" for text, number in zip(best, numbers)]


def can_colour(name: str, values: Sequence[object]) -> bool:
    """Whether a column says something of its rows: no ids, and not the same for all.

    >>> can_colour("active", ["yes", "no", "yes"]), can_colour("name", ["a", "b", "b"])
    (True, False)
    >>> can_colour("batch", [7, 7, None]), can_colour("note", ["a", "b", "c"])
    (False, False)
    """
    known = [value for value in values if value not in (None, "")]
    kinds = set(known)
    is_one_each = len(kinds) == len(known) and any(isinstance(value, str) for value in kinds)
    return len(kinds) > 1 and not is_one_each and not is_id(name)


def colour_values(values: Sequence[object]) -> list[float] | list[str]:
    """Numbers, or texts if there is one among the values."""
    if any(isinstance(value, str) for value in values):
        return ["" if value is None else str(value) for value in values]
    return [UNKNOWN if value is None else float(str(value)) for value in values]
