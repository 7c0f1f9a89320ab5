"""Rows of a file as graphs that a model can take, or the reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grale.codec.intake import in_space
from grale.data.molecules.files import Text
from grale.data.row_files import parse_desalted, parse_entry
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


class Desalted(NamedTuple):
    """Rows without counter-ions and solvents."""

    items: list[Graph | str]
    kept: list[str | None]
    """SMILES of what was kept of a row; None if nothing was removed."""


def read_rows(entries: Sequence[str | None], text: Text, space: GraphSpace) -> list[Graph | str]:
    """Read each entry as a graph of the space, or say in one sentence why that fails."""
    return [_in_space(parse_entry(entry, text), space) for entry in entries]


def read_desalted(entries: Sequence[str | None], text: Text, space: GraphSpace) -> Desalted:
    """Read the largest organic part of each entry."""
    found = [parse_desalted(entry, text) for entry in entries]
    return Desalted([_in_space(item, space) for item, _ in found], [kept for _, kept in found])


def _in_space(item: Graph | str, space: GraphSpace) -> Graph | str:
    return item if isinstance(item, str) else in_space(space.named(item), space)
