"""Graphs of one row as panels: what they share keeps its place, and what is new is marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph
from grale.plot.panel import Look, Panel


def panels_along(
    graphs: Sequence[Graph], mappings: Sequence[ArrayLike] | None, look: Look
) -> list[Panel]:
    """Each graph beside the one before it.

    ``mappings[t][i]`` is the node of ``graphs[t]`` that node i of ``graphs[t + 1]`` corresponds to,
    or -1; without them, the graphs are unrelated.
    """
    panels = [Panel(*pair) for pair in zip(graphs, look.along(graphs, mappings))]
    for step, mapping in enumerate(mappings or ()):
        graph, before = graphs[step + 1], graphs[step]
        marks = look.changes(graph, before, np.asarray(mapping, dtype=np.int64))
        panels[step + 1] = panels[step + 1]._replace(marks=marks)
    return panels


def panels_from(graphs: Sequence[Graph], mappings: Sequence[ArrayLike], look: Look) -> list[Panel]:
    """The first graph, and each other one beside it.

    ``mappings[t][i]`` is the node of the first graph that node i of ``graphs[t + 1]`` corresponds
    to, or -1.
    """
    pairs = [
        panels_along([graphs[0], graph], [mapping], look)
        for graph, mapping in zip(graphs[1:], mappings, strict=True)
    ]
    if not pairs:
        return panels_along(graphs, None, look)
    (start, _), *_ = pairs
    return [start] + [
        later._replace(places=later.places + start.places[0] - before.places[0])
        for before, later in pairs
    ]
