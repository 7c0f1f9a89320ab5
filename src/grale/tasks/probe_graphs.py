"""What vectors of one's own graphs know: graphs, targets and contenders for `grale.tasks.probe`.

NAME          description by a model of such graphs
NAME:latent   its latent
untrained     description by a model like the first one, whose weights are random
counts        counts of labels, edges, colours of Weisfeiler and Leman, and path lengths
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grale.catalog import load_any
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.intake import by_size, in_space
from grale.data.own.graph_set import read_for
from grale.data.own.prepare import canonical_keys
from grale.graphs.colours import NUM_COUNTS, colour_counts
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.contenders import LATENT, UNTRAINED, Molecules, Vectors

COUNTS = "counts"
BATCH = 256


def model_of_graphs(contenders: Sequence[str]) -> GraphAutoencoder | None:
    """The first contender that is a model of one's own graphs, or None."""
    for name in contenders:
        folder = name.removesuffix(LATENT)
        if Path(folder).is_dir():
            model = load_any(folder)
            if model.space.attributes is not None and not is_molecular(model.space):
                return model
    return None


def read_graph_rows(
    path: Path, target: str, model: GraphAutoencoder
) -> tuple[Molecules, NDArray[np.float64]]:
    """All graphs of a file as a model takes them, and the target of each."""
    space = model.space
    found = read_for(path, space.attributes, space.directed)
    items = [item if isinstance(item, str) else in_space(item, space) for _, item in found]
    graphs = [item if isinstance(item, Graph) else None for item in items]
    keys = iter(canonical_keys([graph for graph in graphs if graph is not None]))
    rows = Molecules(
        [record.where for record, _ in found],
        graphs,
        [*graphs],
        [item if isinstance(item, str) else None for item in items],
        ["" if graph is None else next(keys).hex() for graph in graphs],
    )
    return rows, _targets(path, [record.targets for record, _ in found], target)


def _targets(path: Path, known: Sequence[Any], name: str) -> NDArray[np.float64]:
    """Numbers as they are; two names of classes as 0 and 1, in alphabetical order."""
    names = list(dict.fromkeys(key for values in known for key in values))
    if name not in names:
        raise ValueError(
            f"{path}: no graph has {name!r}; known of graphs: {names[:12] or 'nothing'}"
        )
    values = [each.get(name) for each in known]
    classes = sorted({value for value in values if isinstance(value, str)})
    if classes and len(classes) != 2:
        raise ValueError(
            f"{path}: {name!r} has {len(classes)} classes ({', '.join(classes[:5])}...); a probe "
            "tells two apart, or predicts numbers"
        )
    return np.array([_number(path, row, v, classes) for row, v in enumerate(values)])


def _number(path: Path, row: int, value: Any, classes: Sequence[str]) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, str):
        return float(classes.index(value))
    if classes or not isinstance(value, int | float):
        raise ValueError(f"{path}, graph {row}: the target {value!r:.40} is not a number")
    return float(value)


def graph_vectors(
    contenders: Sequence[str],
    rows: Molecules,
    first: GraphAutoencoder,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, Vectors]:
    """What every contender makes of every graph."""
    made = {}
    for name in contenders:
        made[name] = _made(name, rows, first)
        progress(len(rows.entries))
    return made


def _made(name: str, rows: Molecules, first: GraphAutoencoder) -> Vectors:
    if name == COUNTS:
        return _counted(rows)
    model = _untrained(first) if name == UNTRAINED else load_any(name.removesuffix(LATENT))
    reasons, taken = [], []
    for graph, reason in zip(rows.graphs, rows.reasons):
        item = reason if graph is None else in_space(graph, model.space)
        reasons.append(f"{name}: {item}" if isinstance(item, str) else None)
        taken.append(None if isinstance(item, str) else graph)
    is_good = [place for place, graph in enumerate(taken) if graph is not None]
    if not is_good:
        raise ValueError(f"{name} can take none of the graphs; the first: {reasons[0]}")
    graphs = [taken[place] for place in is_good]
    found = model.encode(graphs) if name.endswith(LATENT) else model.describe(graphs)
    values = np.full((len(reasons), found.shape[1]), np.nan)
    values[is_good] = found
    return Vectors(values, reasons)


def _counted(rows: Molecules) -> Vectors:
    values = np.full((len(rows.graphs), NUM_COUNTS), np.nan)
    places = [place for place, graph in enumerate(rows.graphs) if graph is not None]
    graphs = [graph for graph in rows.graphs if graph is not None]
    for taken, batch in by_size(graphs, BATCH):
        values[[places[row] for row in taken]] = colour_counts(batch).numpy()
    return Vectors(values, rows.reasons)


def _untrained(like: GraphAutoencoder) -> GraphAutoencoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return type(like)(like.space, like.config).eval()
