"""Rows of a file of molecules as graphs that a model can take, or the reason why not."""

from __future__ import annotations

from collections.abc import Sequence

from grale.codec.intake import in_space
from grale.data.molecules.files import Text, parse
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


def read_rows(entries: Sequence[str | None], text: Text, space: GraphSpace) -> list[Graph | str]:
    """Read each entry as a graph of the space, or say in one sentence why that fails."""
    parsed = (parse(entry, text) for entry in entries)
    return [item if isinstance(item, str) else in_space(item, space) for item in parsed]
