"""Datasets of inputs and graphs, to learn to predict (paper: "Graph prediction").

A dataset as usual (`grale.data.storage`), with one more column: the bytes of the input.

    images         COLORING graphs and their maps, drawn here
    fingerprints   molecules of a prepared dataset, and what their fingerprint says

Departures: as in Any2Graph, cells and borders of images have at least three pixels; sizes are
uniform. A fingerprint is that of the molecule that the graph stands for, charges and hydrogens
restored, so that a decoded graph can be compared with it exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grale.data.coloring.block import BLOCK_SIZE, ColoringConfig
from grale.data.coloring.generate import coloring_instance
from grale.data.coloring.image import coloring_image
from grale.data.packed import PackedGraphs
from grale.data.sources import FIRST_HELD_OUT, HELD_OUT_SEED, NUM_COLOURS, stored_graphs
from grale.data.storage import MANIFEST, Manifest, read_manifest, read_shard, write_packed
from grale.files import write_whole
from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import morgan_counts
from grale.graphs.molecules.molecule import (
    ELEMENTS,
    MoleculeError,
    canonical_key,
    is_molecular,
)
from grale.graphs.space import GraphSpace
from grale.inputs.space import InputSpace

SPLITS = ("train", "valid", "test")
SHARD_ROWS = 8_192
HELD_OUT_SHARE = 0.05  # of the images, in valid and in test
IMAGE_VARIANTS: dict[str, ColoringConfig] = {
    "coloring10": ColoringConfig(max_nodes=10, min_pixels=3),
    "coloring15": ColoringConfig(max_nodes=15, min_pixels=3),
    "coloring20": ColoringConfig(max_nodes=20, min_pixels=3),
}
NOTES = "pairs.json"  # counts of what was kept and left out

Progress = Callable[[int], object]


def _ignored(done: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, kw_only=True)
class FingerprintConfig:
    """Which molecules to take, and what to say of them."""

    kind: str = "bits"
    """bits or counts."""
    num_places: int = 2_048
    min_atoms: int = 1
    max_atoms: int | None = None
    """None for all molecules of the dataset."""
    elements: tuple[str, ...] = ()
    """Only molecules of these elements; empty for all."""
    without: tuple[str, ...] = ()
    """Datasets whose training molecules must not be among the held-out ones."""
    count: int | None = None
    """Training molecules, the first of the dataset; None for all."""

    def __post_init__(self) -> None:
        if self.kind not in ("bits", "counts"):
            raise ValueError(f"kind={self.kind!r}; expected bits or counts")
        for element in self.elements:
            if element not in ELEMENTS:
                raise ValueError(f"no element is called {element!r}; known: {', '.join(ELEMENTS)}")
        if self.count is not None and self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count}")

    @property
    def inputs(self) -> InputSpace:
        """What the fingerprints are."""
        return InputSpace(kind=self.kind, size=self.num_places)  # type: ignore[arg-type]


def prepare_images(
    name: str, out: Path, count: int, seed: int = 0, progress: Progress = _ignored
) -> dict[str, int]:
    """Draw `count` images with their graphs, 90 % to train on; return the rows of each split."""
    if name not in IMAGE_VARIANTS:
        raise ValueError(f"no images are called {name!r}; known: {', '.join(IMAGE_VARIANTS)}")
    variant = IMAGE_VARIANTS[name]
    held_out = max(1, round(HELD_OUT_SHARE * count))
    rows = {"train": max(1, count - 2 * held_out), "valid": held_out, "test": held_out}
    inputs = InputSpace(kind="image", size=variant.grid)
    space = GraphSpace(max_nodes=variant.max_nodes, num_node_labels=NUM_COLOURS)
    for split in reversed(SPLITS):
        first = (seed, 0) if split == "train" else (HELD_OUT_SEED, FIRST_HELD_OUT[split])
        packs = _image_packs(variant, *first, rows[split], progress)
        write_packed(out / split, packs, space, inputs=inputs)
    return rows


def image_pairs(variant: ColoringConfig, seed: int, start: int, count: int) -> PackedGraphs:
    """Graphs number `start` and following with their images."""
    numbers = range(start, start + count)
    graphs = [coloring_instance(variant, seed, number).graph for number in numbers]
    images = np.stack([image_bytes(coloring_image(variant, seed, number)) for number in numbers])
    return PackedGraphs.from_graphs(graphs, inputs=images)


def image_bytes(image: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Pixels of an image in [0, 1] as one row of bytes, as a PNG file would hold them."""
    return np.round(255 * image).astype(np.uint8).reshape(-1)


def _image_packs(
    variant: ColoringConfig, seed: int, start: int, count: int, progress: Progress
) -> Iterator[PackedGraphs]:
    for first in range(start, start + count, SHARD_ROWS):
        rows = min(SHARD_ROWS, start + count - first)
        parts = []
        for begin in range(first, first + rows, BLOCK_SIZE):
            size = min(BLOCK_SIZE, first + rows - begin)
            parts.append(image_pairs(variant, seed, begin, size))
            progress(size)
        yield PackedGraphs.join(parts)


def prepare_fingerprints(
    data: Path, out: Path, config: FingerprintConfig, progress: Progress = _ignored
) -> dict[str, int]:
    """Add fingerprints to the molecules of a prepared dataset; return counts.

    Held-out molecules that a dataset of `without` trains on are left out and counted.
    """
    space = _molecular_space(data)
    seen: set[str] = set()
    for other in config.without:
        seen |= training_keys(Path(other))
    notes = {"overlapping": 0, "not a molecule": 0, "not asked for": 0}
    for split in reversed(SPLITS):
        most = config.count if split == "train" else None
        known = set() if split == "train" else seen
        graphs = stored_graphs(data / split)
        packs = _fingerprint_packs(graphs, config, known, most, notes, progress)
        notes[split] = write_packed(out / split, packs, space, inputs=config.inputs).rows
    write_whole(out / NOTES, json.dumps(notes, indent=2) + "\n")
    return notes


def training_keys(data: Path) -> set[str]:
    """Keys of the molecules that a dataset trains on; equal exactly for equal graphs."""
    return {canonical_key(graph) for graph in stored_graphs(data / "train")}


def _molecular_space(data: Path) -> GraphSpace:
    space = read_manifest(data / "train").space
    if not is_molecular(space):
        raise ValueError(f"{data} does not hold molecules; fingerprints need some")
    return space


def _fingerprint_packs(
    graphs: Iterator[Graph],
    config: FingerprintConfig,
    seen: set[str],
    most: int | None,
    notes: dict[str, int],
    progress: Progress,
) -> Iterator[PackedGraphs]:
    kept: list[Graph] = []
    rows: list[NDArray[np.uint8]] = []
    total = 0
    for graph in graphs:
        if most is not None and total == most:
            break
        row = _row_or_reason(graph, config, seen)
        if isinstance(row, str):
            notes[row] += 1
            continue
        kept.append(graph)
        rows.append(row)
        total += 1
        progress(1)
        if len(kept) == SHARD_ROWS:
            yield PackedGraphs.from_graphs(kept, inputs=np.stack(rows))
            kept, rows = [], []
    if kept:
        yield PackedGraphs.from_graphs(kept, inputs=np.stack(rows))


def _row_or_reason(
    graph: Graph, config: FingerprintConfig, seen: set[str]
) -> NDArray[np.uint8] | str:
    """Bytes of a molecule's fingerprint, or why it is left out."""
    most = graph.num_nodes if config.max_atoms is None else config.max_atoms
    symbols = {ELEMENTS.index(element) for element in config.elements}
    is_other = bool(symbols) and not set(graph.node_labels.tolist()) <= symbols
    if is_other or not config.min_atoms <= graph.num_nodes <= most:
        return "not asked for"
    if seen and canonical_key(graph) in seen:
        return "overlapping"
    return fingerprint_row(graph, config.inputs)


def fingerprint_row(graph: Graph, inputs: InputSpace) -> NDArray[np.uint8] | str:
    """Bytes of the fingerprint of a graph; "not a molecule" if RDKit does not take it."""
    try:
        return inputs.of_counts(morgan_counts(graph.to_mol(), inputs.size))
    except MoleculeError:
        return "not a molecule"


def open_pairs(folder: Path) -> Manifest:
    """Manifest of a folder of shards with inputs, or an error that says how to make one."""
    if not (folder / MANIFEST).is_file():
        raise FileNotFoundError(f"{folder} holds no {MANIFEST}; it is not a finished dataset")
    manifest = read_manifest(folder)
    if manifest.inputs is None:
        raise ValueError(
            f"{folder} holds graphs without inputs; make a dataset of pairs with "
            "`grale prepare images` or `grale prepare fingerprints`"
        )
    return manifest


def first_pairs(folder: Path, count: int) -> PackedGraphs:
    """First rows of a folder of shards with inputs, all of them if there are fewer."""
    parts: list[PackedGraphs] = []
    left = count
    for pack in stored_pairs(folder):
        parts.append(pack if len(pack) <= left else pack.take(np.arange(left)))
        left -= len(parts[-1])
        if left == 0:
            break
    return PackedGraphs.join(parts)


def stored_pairs(folder: Path) -> Iterator[PackedGraphs]:
    """All shards of a folder with inputs, checked."""
    manifest = open_pairs(folder)
    for shard in manifest.shards:
        pack = read_shard(folder, shard, manifest.space.directed)
        pack.check(manifest.space, str(folder / shard.file))
        yield pack


def without_edge_labels(graphs: Sequence[Graph]) -> list[Graph]:
    """The same graphs with every edge labelled 1: adjacency alone, as Fingerprint2Graph has it."""
    return [
        Graph.trusted(graph.node_labels, graph.edges, np.ones_like(graph.edge_labels))
        for graph in graphs
    ]
