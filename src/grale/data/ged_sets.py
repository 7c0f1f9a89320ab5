"""Graphs with known edit distances: AIDS700nef and LINUX (beyond the paper's matching table).

Labels of a dataset are numbered in alphabetical order; graphs without labels have label 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.data.storage import write_shards
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace

GRAPHS, PAIRS = "ged_graphs.parquet", "aids700nef_ged_pairs.parquet"


class GedSet(NamedTuple):
    """One dataset, split as published."""

    space: GraphSpace
    train: dict[int, Graph]
    """Graphs by their number."""
    test: dict[int, Graph]


class GedPairs(NamedTuple):
    """Pairs of numbers of graphs and their exact edit distance."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    distance: NDArray[np.int64]


def read_ged_set(folder: Path, name: str = "AIDS700nef") -> GedSet:
    """Read the graphs of one dataset from the folder that holds `ged_graphs.parquet`."""
    rows = pq.read_table(folder / GRAPHS, filters=[("dataset", "=", name)]).to_pylist()
    if not rows:
        raise ValueError(f"{folder / GRAPHS} holds no graphs of {name!r}")
    known = sorted({label for row in rows for label in row["labels"] or ()})
    number = {label: place for place, label in enumerate(known)}
    splits: dict[str, dict[int, Graph]] = {"train": {}, "test": {}}
    for row in rows:
        labels = [number[label] for label in row["labels"] or ()] or [0] * row["n_nodes"]
        splits[row["split"]][row["gid"]] = Graph(labels, row["edges"])
    largest = max(graph.num_nodes for part in splits.values() for graph in part.values())
    space = GraphSpace(max_nodes=largest, num_node_labels=max(len(known), 1))
    return GedSet(space, splits["train"], splits["test"])


def prepare_ged_set(folder: Path, out: Path, name: str = "AIDS700nef") -> dict[str, int]:
    """Write one dataset as shards; every tenth training graph is held out for validation."""
    found = read_ged_set(folder, name)
    train = list(found.train.values())
    splits = {
        "train": [graph for row, graph in enumerate(train) if row % 10],
        "valid": train[::10],
        "test": list(found.test.values()),
    }
    return {
        split: write_shards(out / split, graphs, found.space).rows
        for split, graphs in splits.items()
    }


def read_ged_pairs(folder: Path) -> GedPairs:
    """Read the exact distances of AIDS700nef: test graphs against train graphs."""
    table = pq.read_table(folder / PAIRS)
    columns = (table[name].to_numpy().astype(np.int64) for name in ("gid1", "gid2", "ged"))
    return GedPairs(*columns)
