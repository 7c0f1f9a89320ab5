"""Rows of two graphs: matched, or with the graphs between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from grale.graphs.graph import Graph
from grale.matching import solve
from grale.metrics.edit_distance import Edit
from grale.model.autoencoder import GRALE
from grale.tasks.interpolate import interpolate
from grale.web.limits import Limits
from grale.web.names import smiles_in
from grale.web.rows import OK, Record, as_body, failed, taken


def match_rows(
    model: GRALE, limits: Limits, pairs: Sequence[Any], method: str, time_limit: float
) -> list[Record]:
    """Which node plays which, and the edits between the two graphs."""

    def matched(first: Graph, second: Graph) -> Record:
        match = solve(first, second, method, time_limit, model)
        return OK | {
            "mapping": match.mapping.tolist(),
            "edit_distance": match.edit_distance,
            "is_optimal": match.is_optimal,
            "edits": [_edit(edit) for edit in match.edits],
        }

    nothing = dict.fromkeys(("mapping", "edit_distance", "is_optimal", "edits"))
    return _of_pairs(model, limits, pairs, matched, nothing)


def interpolate_rows(
    model: GRALE, limits: Limits, pairs: Sequence[Any], steps: int, tries: int
) -> list[Record]:
    """Graphs decoded on the straight line between two vectors, both ends included."""

    def between(first: Graph, second: Graph) -> Record:
        path = interpolate(model, first, second, steps, tries)
        points = [
            {
                "position": position,
                "smiles": smiles_in(graph, model.space),
                "graph": as_body(graph),
            }
            for position, graph in zip(path.positions, path.graphs)
        ]
        return OK | {"points": points}

    return _of_pairs(model, limits, pairs, between, {"points": None})


def _of_pairs(
    model: GRALE,
    limits: Limits,
    pairs: Sequence[Any],
    run: Callable[[Graph, Graph], Record],
    nothing: Record,
) -> list[Record]:
    """Run on pairs that the model can take; the others say which of the two it cannot."""
    records = []
    for pair in pairs:
        first, second = taken(pair, model, limits)
        if isinstance(first, Graph) and isinstance(second, Graph):
            records.append(run(first, second))
            continue
        sides = zip(("first graph", "second graph"), (first, second))
        reasons = [f"{side}: {item}" for side, item in sides if isinstance(item, str)]
        records.append(failed("; ".join(reasons)) | nothing)
    return records


def _edit(edit: Edit) -> Record:
    return {
        "kind": edit.kind,
        "where": list(edit.where),
        "before": edit.before,
        "after": edit.after,
        "text": str(edit),
    }
