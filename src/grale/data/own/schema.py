"""Which attributes a set of graphs carries, found by looking at all of them (decisions/014).

Text, integers, truth values and lists of integers are categorical; floats and lists of floats are
continuous, unless all lists are one-hot. Every attribute counts that is on every node (or edge),
unless the user chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grale.graphs.attributes import (
    Attributes,
    Features,
    Kind,
    Vocabulary,
    kind_of,
    numbers_of,
    read_value,
    value_text,
)
from grale.graphs.record import GraphRecord, RecordError

MAX_LABELS = 1_000  # combinations of values; more are ids or measurements


class Choice(NamedTuple):
    """Which attributes to use; None for all of them."""

    nodes: Sequence[str] | None = None
    edges: Sequence[str] | None = None


class _Item(NamedTuple):
    """A node or an edge: what it carries, and what to call it in a message."""

    values: Any
    name: Callable[[], str]


def find_attributes(records: Sequence[GraphRecord], choice: Choice | None = None) -> Attributes:
    """Attributes of a set; raise and name file, graph and node if they are not consistent."""
    choice = choice or Choice()
    nodes, node_features = _found(_nodes(records), "node", choice.nodes)
    edges, edge_features = _found(_edges(records), "edge", choice.edges)
    return Attributes(
        nodes=nodes, edges=edges, node_features=node_features, edge_features=edge_features
    )


def _called(where: str, name: Callable[[int], str], place: int) -> str:
    return f"{where}: {name(place)}"


def _nodes(records: Sequence[GraphRecord]) -> list[_Item]:
    return [
        _Item(values, partial(_called, record.where, record.node, place))
        for record in records
        for place, values in enumerate(record.node_values)
    ]


def _edges(records: Sequence[GraphRecord]) -> list[_Item]:
    return [
        _Item(values, partial(_called, record.where, record.edge, place))
        for record in records
        for place, values in enumerate(record.edge_values)
    ]


def _found(
    items: list[_Item], kind: str, chosen: Sequence[str] | None
) -> tuple[Vocabulary | None, Features | None]:
    """Vocabulary and features of all nodes, or of all edges."""
    present = dict.fromkeys(name for item in items for name in item.values)
    for name in chosen or ():
        if name not in present:
            raise ValueError(f"no {kind} has the attribute {name!r}; found {list(present)[:12]}")
    kinds = {name: _kind(name, items, kind) for name in (present if chosen is None else chosen)}
    labels = [name for name, found in kinds.items() if found != "numbers"]
    floats = [name for name, found in kinds.items() if found == "numbers"]
    vocabulary = _vocabulary(labels, [kinds[name] for name in labels], items, kind)
    return vocabulary, _features(floats, items)


def _kind(name: str, items: Iterable[_Item], kind: str) -> Any:
    """Type of an attribute over the whole set."""
    first: dict[str, _Item] = {}
    one_hot = True
    for item in items:
        value = item.values.get(name)
        if value is None:
            raise RecordError(
                f"{item.name()} has no attribute {name!r}, but others have; add it, or choose "
                f"attributes with --{kind}-attribute"
            )
        try:
            found = kind_of(value)
        except ValueError as error:
            raise RecordError(f"{item.name()} has {name!r}, but {error}") from error
        first.setdefault(found, item)
        one_hot = one_hot and found == "numbers" and _is_one_hot(value)
    found_kinds = set(first)
    if len(found_kinds) == 1:
        return "integers" if found_kinds == {"numbers"} and one_hot else found_kinds.pop()
    if found_kinds <= {"integer", "integers", "numbers"} and "numbers" in found_kinds:
        return "numbers"
    (one, here), (other, there) = list(first.items())[:2]
    raise RecordError(
        f"{here.name()} has {name}={here.values[name]!r:.40} ({one}), but {there.name()} has "
        f"{there.values[name]!r:.40} ({other}); write all of them in the same way"
    )


def _is_one_hot(value: Any) -> bool:
    array = np.asarray(value)
    return bool(
        array.ndim == 1 and len(array) > 1 and (array == 1).sum() == 1 and array.sum() == 1
        and ((array == 0) | (array == 1)).all()
    )  # fmt: skip


def _vocabulary(
    names: list[str], kinds: list[Kind], items: list[_Item], kind: str
) -> Vocabulary | None:
    if not names or not items:
        return None
    rows: set[tuple[str, ...]] = set()
    for item in items:
        rows.add(tuple(value_text(n, k, item.values[n]) for n, k in zip(names, kinds)))
    if len(rows) > MAX_LABELS:
        counts = [len({row[place] for row in rows}) for place in range(len(names))]
        worst = names[int(np.argmax(counts))]
        raise ValueError(
            f"the attributes {', '.join(names)} of {kind}s have {len(rows)} combinations, more "
            f"than {MAX_LABELS}; {worst!r} alone has {max(counts)} values. Leave it out by "
            f"choosing others with --{kind}-attribute, or write it as a float if it is measured"
        )

    def order(row: tuple[str, ...]) -> tuple[Any, ...]:
        return tuple(read_value(k, text) for k, text in zip(kinds, row))

    return Vocabulary(
        attributes=tuple(names), kinds=tuple(kinds), values=tuple(sorted(rows, key=order))
    )


def _features(names: list[str], items: list[_Item]) -> Features | None:
    if not names or not items:
        return None
    columns: list[str] = []
    for name in names:
        columns += [name] * len(np.atleast_1d(np.asarray(items[0].values[name])))
    rows = []
    for item in items:
        try:
            row = [number for name in names for number in numbers_of(name, item.values[name])]
        except ValueError as error:
            raise RecordError(f"{item.name()} {error}") from error
        if len(row) != len(columns):
            raise RecordError(
                f"{item.name()} has {len(row)} numbers in {', '.join(names)}, but "
                f"{items[0].name()} has {len(columns)}"
            )
        rows.append(row)
    values = np.array(rows, dtype=np.float64)
    deviations = values.std(axis=0)
    means = values.mean(axis=0)
    deviations = np.where(deviations <= 1e-9 * (1 + np.abs(means)), 1.0, deviations)
    return Features(
        names=tuple(columns), means=tuple(means.tolist()), deviations=tuple(deviations.tolist())
    )
