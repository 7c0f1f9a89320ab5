"""What labels and features mean: names and types as the owner of the graphs has them.

A label stands for one value of each categorical attribute: "C", or ("C", 1) for an element and a
charge. All graphs of a set share one `Attributes`; it is written into models and datasets and comes
back with decoded graphs.

Departures: not in the paper, whose labels are numbers (decisions/014).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["text", "integer", "truth", "integers"]
"""Types of categorical values; "integers" is a list of them, such as a one-hot row."""
Value = str | int | bool | list[int]


class UnknownLabelError(ValueError):
    """A value that has no label."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What the labels of nodes, or of edges, stand for, in their order."""

    attributes: tuple[str, ...]
    """Names of the categorical attributes."""
    kinds: tuple[Kind, ...]
    """Type of each."""
    values: tuple[tuple[str, ...], ...]
    """For each label, the value of each attribute, as text."""

    def __post_init__(self) -> None:
        if not self.attributes or len(self.kinds) != len(self.attributes) or not self.values:
            raise ValueError("a vocabulary needs attributes, a kind for each, and values")
        for row in self.values:
            if len(row) != len(self.attributes):
                raise ValueError(f"label {row} needs one value for each of {self.attributes}")
            for kind, text in zip(self.kinds, row):
                read_value(kind, text)
        if len(set(self.values)) < len(self.values):
            raise ValueError("two labels of a vocabulary stand for the same values")

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _places(self) -> dict[tuple[str, ...], int]:
        return {row: place for place, row in enumerate(self.values)}

    def values_of(self, place: int) -> dict[str, Value]:
        """Attributes of one entry, by name, in the types they had."""
        row = zip(self.attributes, self.kinds, self.values[place])
        return {name: read_value(kind, text) for name, kind, text in row}

    def text(self, place: int) -> str:
        """One entry as drawings and tables write it."""
        return "/".join(self.values[place])

    def place_of(self, values: Mapping[str, Any]) -> int:
        """Entry for the values of all attributes; others are ignored."""
        for name in self.attributes:
            if values.get(name) is None:
                raise ValueError(f"has no attribute {name!r}")
        pairs = zip(self.attributes, self.kinds)
        row = tuple(value_text(name, kind, values[name]) for name, kind in pairs)
        if row in self._places:
            return self._places[row]
        known = [self.text(place) for place in range(len(self))]
        near = difflib.get_close_matches("/".join(row), known, n=1, cutoff=0.0)
        names = "/".join(self.attributes)
        raise UnknownLabelError(
            f"has {names}={'/'.join(row)!r}, which is not among the {len(self)} known values; "
            f"the nearest is {near[0]!r}"
        )


@dataclass(frozen=True, kw_only=True)
class Features:
    """Continuous features of nodes, or of edges: one name, mean and deviation per column."""

    names: tuple[str, ...]
    """The same name in consecutive columns is one vector, such as a position."""
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    """Above 0; 1 for a constant."""

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.means) == len(self.deviations) > 0:
            raise ValueError("features need a name, a mean and a deviation per column")
        if not (np.isfinite(self.means).all() and np.isfinite(self.deviations).all()):
            raise ValueError("means and deviations of features must be finite")
        if min(self.deviations) <= 0:
            raise ValueError(f"deviations must be above 0, got {min(self.deviations)}")

    def __len__(self) -> int:
        return len(self.names)

    def vectors(self) -> Iterator[tuple[str, slice]]:
        """Name and columns of each feature."""
        start = 0
        for name, group in groupby(self.names):
            stop = start + len(list(group))
            yield name, slice(start, stop)
            start = stop

    def row_of(self, values: Mapping[str, Any]) -> list[float]:
        """Columns from the values of all features; others are ignored."""
        row: list[float] = []
        for name, columns in self.vectors():
            if values.get(name) is None:
                raise ValueError(f"has no attribute {name!r}")
            numbers = numbers_of(name, values[name])
            if len(numbers) != columns.stop - columns.start:
                raise ValueError(
                    f"has {len(numbers)} numbers in {name!r} instead of "
                    f"{columns.stop - columns.start}"
                )
            row += numbers
        return row

    def values_of(self, row: Any) -> dict[str, float | list[float]]:
        """Undo :meth:`row_of`: one number, or a list of them, under each name."""
        found: dict[str, float | list[float]] = {}
        for name, columns in self.vectors():
            numbers = [float(number) for number in row[columns]]
            found[name] = numbers[0] if len(numbers) == 1 else numbers
        return found


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """What nodes and edges of a set of graphs carry."""

    nodes: Vocabulary | None = None
    """Entry k is node label k; None if nodes have no categorical attributes."""
    edges: Vocabulary | None = None
    """Entry k is edge label k + 1."""
    node_features: Features | None = None
    edge_features: Features | None = None

    def node_text(self, label: int) -> str:
        """A node label as drawings and tables write it."""
        return str(label) if self.nodes is None else self.nodes.text(label)

    def edge_text(self, label: int) -> str:
        """An edge label as drawings and tables write it."""
        return str(label) if self.edges is None else self.edges.text(label - 1)

    @property
    def num_node_labels(self) -> int:
        """Labels that nodes may have."""
        return 1 if self.nodes is None else len(self.nodes)

    @property
    def num_edge_labels(self) -> int:
        """Labels that edges may have, without "no edge"."""
        return 1 if self.edges is None else len(self.edges)


def kind_of(value: Any) -> Kind | Literal["numbers"]:
    """Type of a value: one of the categorical kinds, or "numbers" for floats."""
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | np.integer):
        return "integer"
    if isinstance(value, float | np.floating):
        return "numbers"
    if isinstance(value, list | tuple | np.ndarray) and len(value):
        kinds = {kind_of(item) for item in value}
        if kinds == {"integer"}:
            return "integers"
        if kinds <= {"integer", "numbers"}:
            return "numbers"
    raise ValueError(f"{_shown(value)} is not text, a number, a truth value or a list of numbers")


def value_text(name: str, kind: Kind, value: Any) -> str:
    """Text of a value, as vocabularies store it; raise if it has another type."""
    found = kind_of(value)
    if kind == "integers" and found == "numbers" and np.ndim(value) == 1:
        value = [int(item) if float(item).is_integer() else item for item in value]
        found = kind_of(value)
    if found != kind:
        raise ValueError(f"has {name}={_shown(value)}, but {name!r} is {kind} elsewhere")
    if kind == "text":
        return str(value)
    if kind == "truth":
        return "true" if value else "false"
    if kind == "integer":
        return str(int(value))
    return json.dumps([int(item) for item in value])


def read_value(kind: Kind, text: str) -> Value:
    """Undo :func:`value_text`."""
    if kind == "text":
        return text
    if kind == "truth":
        if text not in ("true", "false"):
            raise ValueError(f"{text!r} is neither 'true' nor 'false'")
        return text == "true"
    if kind == "integer":
        return int(text)
    found = json.loads(text)
    if not isinstance(found, list) or not all(type(item) is int for item in found):
        raise ValueError(f"{text!r} is not a list of integers")
    return found


def numbers_of(name: str, value: Any) -> list[float]:
    """A number or a flat list of numbers as a list of finite floats."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full((1, 1, 1), np.nan)
    if isinstance(value, str) or array.ndim > 1:
        raise ValueError(f"has {name}={_shown(value)}, which is neither a number nor a list")
    if not np.isfinite(array).all() or (np.abs(array) > np.finfo(np.float32).max).any():
        raise ValueError(f"has {name}={_shown(value)}, which is not finite")
    return [float(item) for item in array.reshape(-1)]


def _shown(value: Any) -> str:
    return repr(value)[:60]


def values_of(
    labels: NDArray[np.int64],
    first: int,
    rows: NDArray[np.float32] | None,
    vocabulary: Vocabulary | None,
    features: Features | None,
) -> list[dict[str, Any]]:
    """Attributes by name of all nodes, or of all edges, whose labels count from `first`.

    Features without names are called `features`.
    """
    if vocabulary is None:
        found: list[dict[str, Any]] = [{"label": label} for label in labels.tolist()]
        if features is not None:  # then no attribute was a label
            found = [{} for _ in found]
    else:
        entries = [vocabulary.values_of(place) for place in range(len(vocabulary))]
        found = [dict(entries[label - first]) for label in labels.tolist()]
    if rows is not None:
        for values, row in zip(found, rows):
            values |= {"features": row.tolist()} if features is None else features.values_of(row)
    return found
