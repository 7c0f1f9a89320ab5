"""`grale.prepare`: a set of graphs to a dataset folder with train, valid and test.

Graphs that are equal up to the order of their nodes go to the same split, so that no held-out graph
was trained on. Everything is read and checked before anything is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grale.data.own.graph_set import LARGEST, GraphSet, read_set
from grale.data.own.schema import Choice
from grale.data.storage import MANIFEST, write_shards
from grale.files import locked, write_whole
from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace

SPLITS = ("train", "valid", "test")
REJECTED = "rejected.jsonl"
SPLIT_SEED = 0
AT_ONCE = 256


class Prepared(NamedTuple):
    """What a dataset holds."""

    folder: Path
    space: GraphSpace
    rows: dict[str, int]
    """Graphs of each split."""
    distinct: int
    """Graphs that differ by more than the order of their nodes."""
    rejected: int


def prepare(
    graphs: Iterable[Any] | str | Path,
    folder: str | Path,
    *,
    node_attributes: Iterable[str] | None = None,
    edge_attributes: Iterable[str] | None = None,
    max_nodes: int = LARGEST,
    directed: bool = False,
) -> Prepared:
    """Write a dataset of one's own graphs: four fifths to train, a tenth each held out.

    Parameters
    ----------
    graphs
        networkx graphs, PyG `Data` or `grale.Graph`, or a file or folder of graphs
        (docs/own-graphs.md lists the formats). If each has a target `split` of train, valid or
        test, that is used.
    folder
        Folder of the dataset; it must be new, or a dataset that is to be replaced.
    node_attributes, edge_attributes
        Names of the attributes to use; all of them by default.
    max_nodes
        Larger graphs are left out and listed in `rejected.jsonl`.
    directed
        For formats that do not say: TU, OGB and PyG.
    """
    choice = Choice(_listed(node_attributes), _listed(edge_attributes))
    folder = Path(folder)
    _refuse_other_folder(folder)
    found = read_set(graphs, choice, max_nodes, directed)
    keys = canonical_keys(found.graphs)
    split = _given_split(found.targets)
    if split is None:
        split = split_by_key(keys, 0.1, 0.1)
    with locked(folder):
        rows = write_splits(found, split, folder)
        text = "".join(json.dumps(entry._asdict()) + "\n" for entry in found.rejected)
        write_whole(folder / REJECTED, text)
    return Prepared(folder, found.space, rows, len(set(keys)), len(found.rejected))


def write_splits(found: GraphSet, split: list[str], folder: Path) -> dict[str, int]:
    """Write each split that has graphs; `train` comes last, and makes the dataset complete."""
    rows = {}
    for name in reversed(SPLITS):
        graphs = [graph for graph, chosen in zip(found.graphs, split) if chosen == name]
        if graphs:
            rows[name] = write_shards(folder / name, graphs, found.space).rows
    return {name: rows[name] for name in SPLITS if name in rows}


def split_by_key(keys: list[bytes], valid: float, test: float) -> list[str]:
    """Draw the split of each distinct graph; equal graphs are in the same one.

    At least one distinct graph goes to each split with a share above 0.
    """
    distinct = sorted(set(keys))
    least = 1 + bool(valid) + bool(test)
    if len(distinct) < least:
        raise ValueError(f"{len(distinct)} distinct graphs cannot be split; give at least {least}")
    num_valid, num_test = (
        max(1, round(share * len(distinct))) if share else 0 for share in (valid, test)
    )
    num_train = len(distinct) - num_valid - num_test
    names = ["valid"] * num_valid + ["test"] * num_test + ["train"] * num_train
    order = np.random.default_rng(SPLIT_SEED).permutation(len(distinct))
    split = {distinct[row]: name for row, name in zip(order, names)}
    return [split[key] for key in keys]


def canonical_keys(graphs: list[Graph]) -> list[bytes]:
    """Bytes that are equal exactly for graphs that differ only in the order of their nodes.

    Features are not part of them.
    """
    keys = [b""] * len(graphs)
    order = sorted(range(len(graphs)), key=lambda row: graphs[row].num_nodes)
    for start in range(0, len(order), AT_ONCE):
        rows = order[start : start + AT_ONCE]
        plain = [_without_features(graphs[row]) for row in rows]
        for row, graph, ranks in zip(
            rows, plain, canonical_positions(GraphBatch.from_graphs(plain)).numpy()
        ):
            moved = graph.permuted(ranks[: graph.num_nodes].argsort())
            arrays = (moved.node_labels, moved.edges, moved.edge_labels)
            keys[row] = b"|".join(array.tobytes() for array in arrays)
    return keys


def _without_features(graph: Graph) -> Graph:
    return Graph.trusted(graph.node_labels, graph.edges, graph.edge_labels, graph.directed)


def _given_split(targets: list[Mapping[str, Any]]) -> list[str] | None:
    """Splits that the graphs name themselves, if all do."""
    split = [str(known.get("split")) for known in targets]
    return split if {"train", "valid"} <= set(split) <= set(SPLITS) else None


def _listed(names: Iterable[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _refuse_other_folder(folder: Path) -> None:
    if folder.is_file():
        raise FileExistsError(f"{folder} is a file; name a new folder for the dataset")
    is_used = folder.is_dir() and any(folder.iterdir())
    if is_used and not (folder / "train" / MANIFEST).is_file():
        raise FileExistsError(f"{folder} is not empty and holds no dataset; name another folder")
