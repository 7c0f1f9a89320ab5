"""Bounds of the edit distance and time per pair, for every method (paper: table on matching).

Methods alternate pair by pair, so that a busy machine affects all equally; `match_many` of all
pairs comes last. Our time includes encoding, the solvers' time building the affinity. Next to the
edit distance is the one-sided number, which counts nothing for nodes that only the second graph
has: the paper's numbers on COLORING are lower than any mapping can cost otherwise.

Departures: tabu, graduated, batched and exact rows; molecules of POOL or of the library, not
of PUBCHEM.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from grale.catalog import load
from grale.data.samples import sample_graphs, usual_data
from grale.experiments.picture import PictureConfig, Progress
from grale.experiments.table import Table
from grale.graphs.graph import Graph, IntArray
from grale.matching import solve
from grale.matching.peers import SOLVERS
from grale.matching.problem import lower_bound
from grale.metrics.edit_distance import edit_distance
from grale.model.autoencoder import GRALE

BUDGET = 0.002  # seconds of tabu search
SLOW = ("astar", "exact")
SLOW_PAIRS, SLOW_SECONDS = 20, 1.0  # slower methods get only that many pairs
SLOW_LIMIT = 10.0  # seconds per pair
PAPER = {
    "ipfp": ("21.10 ± 10.83", "0.006", "40.66 ± 12.16", "0.073"),
    "rrwm": ("20.66 ± 10.90", "0.540", "42.24 ± 12.71", "1.271"),
    "sm": ("20.90 ± 10.91", "0.002", "43.20 ± 12.86", "0.076"),
    "greedy-astar": ("20.41 ± 11.21", "0.021", "32.53 ± 8.15", "0.110"),
    "astar": ("19.66 ± 11.01", "3.487", "-", "> 100"),
    "grale": ("8.92 ± 5.61", "0.005", "32.77 ± 11.67", "0.008"),
}
"""Edit distance and seconds on COLORING 20, then on PUBCHEM 32, as printed."""


@dataclass
class Row:
    """Results of one method."""

    distances: list[int] = field(default_factory=list)
    one_sided: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def is_slow(self) -> bool:
        """Whether it is too slow to match all pairs."""
        return self.failed > 0 or bool(self.seconds and np.mean(self.seconds) > SLOW_SECONDS)


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Table]:
    """Match random pairs by every method."""
    graphs = sample_graphs(model.space, 2 * config.count, config.data, "test")
    pairs = list(zip(graphs[::2], graphs[1::2]))
    models = {"grale": model} | {f"grale, {name}": load(name) for name in config.also}
    rows = {name: Row() for name in (*SOLVERS, "graduated", "tabu", "exact")}
    rows |= {name + end: Row() for name in models for end in ("", " + tabu")}
    for name in rows:  # so that imports and compilation count for no pair
        _add(Row(), name, (Graph([0, 1], [(0, 1)]), Graph([1, 0], [(0, 1)])), models)
    for number, pair in enumerate(pairs):
        for name, row in rows.items():
            if number < SLOW_PAIRS or not row.is_slow:
                _add(row, name, pair, models)
        if progress is not None:
            progress(1)
    rows |= {f"{name}, all at once": _at_once(each, pairs) for name, each in models.items()}
    return [_table(rows, pairs, config.data or usual_data(model.space))]


def _add(row: Row, name: str, pair: tuple[Graph, Graph], models: dict[str, GRALE]) -> None:
    model = models.get(name.removesuffix(" + tabu"))
    method = name if model is None else "grale+tabu" if name.endswith("tabu") else "grale"
    limit = SLOW_LIMIT if method in SLOW else BUDGET if "tabu" in method else None
    try:
        found = solve(*pair, method, limit, model)
    except TimeoutError:
        row.failed += 1
        return
    assert found.seconds is not None  # `solve` measures it
    row.distances.append(found.edit_distance)
    row.one_sided.append(one_sided(*pair, found.mapping))
    row.seconds.append(found.seconds)


def one_sided(g1: Graph, g2: Graph, mapping: IntArray) -> int:
    """Edits without the insertions: nodes and edges of the second graph alone cost nothing.

    >>> one_sided(Graph([0]), Graph([0, 1], [(0, 1)]), np.array([0]))
    0
    """
    kept = np.flatnonzero(mapping >= 0)
    inside = np.isin(g2.edges, mapping[kept]).all(axis=1)
    outside = g2.num_edges - int(inside.sum())
    return edit_distance(g1, g2, mapping) - (g2.num_nodes - len(kept)) - outside


def _table(rows: dict[str, Row], pairs: list[tuple[Graph, Graph]], data: str) -> Table:
    bounds = [lower_bound(*pair) for pair in pairs]
    header = ["method", "pairs", "edit distance", "one-sided", "ms per pair", "timed out"]
    header += ["paper: COLORING 20, s", "paper: PUBCHEM 32, s"]
    cells = []
    for name, row in rows.items():
        printed = PAPER.get(name, ("-", "-", "-", "-"))
        found = [_spread(row.distances), _spread(row.one_sided)] if row.distances else ["-", "-"]
        milliseconds = f"{1000 * np.mean(row.seconds):.2f}" if row.seconds else "-"
        cells.append([
            name, str(len(row.distances)), *found, milliseconds, str(row.failed),
            f"{printed[0]}, {printed[1]}", f"{printed[2]}, {printed[3]}",
        ])  # fmt: skip
    caption = (
        f"{len(pairs):,} random pairs of {data}. Tabu search has {1000 * BUDGET:g} ms. A* and "
        f"exact have {SLOW_LIMIT:g} s each, and only {SLOW_PAIRS} pairs if they need more than a "
        f"second. No mapping costs less than {np.mean(bounds):.2f} on average."
    )
    values = {name: vars(row) for name, row in rows.items()} | {"lower_bound": bounds}
    return Table("table-matching", "Matching random pairs", header, cells, caption, values)


def _at_once(model: GRALE, pairs: list[tuple[Graph, Graph]]) -> Row:
    """`match_many` over all pairs."""
    begin = time.perf_counter()
    found = model.match_many(pairs)
    seconds = (time.perf_counter() - begin) / len(pairs)
    return Row(
        [match.edit_distance for match in found],
        [one_sided(match.g1, match.g2, match.mapping) for match in found],
        [seconds] * len(pairs),
    )


def _spread(values: list[int]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"
