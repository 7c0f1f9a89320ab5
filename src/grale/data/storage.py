"""Graphs on disk: parquet shards and a manifest with their checksums.

One row is one graph: `node_labels` (list), `edges` (list, two numbers per edge), `edge_labels`
(list), `node_features` and `edge_features` (lists of floats) if there are any, and, if the dataset
has properties, `properties` (list of floats); their names, means and deviations are in the
manifest. If graphs are to be predicted from something, `inputs` (list of bytes) holds that. A shard
is read straight into :class:`PackedGraphs`, without a Python object per graph. The manifest is
written last, so a folder with a manifest is complete.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.data.packed import PackedGraphs
from grale.files import read_json, sha256_of, whole, write_whole
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.inputs.space import InputSpace
from grale.settings.build import build

MANIFEST = "manifest.json"


class BadShardError(ValueError):
    """A shard whose bytes differ from what its manifest records."""


@dataclass(frozen=True)
class Shard:
    """One file of a dataset."""

    file: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Properties:
    """Properties of the graphs: their names, means and deviations over the dataset."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]


@dataclass(frozen=True)
class Manifest:
    """What a dataset folder holds."""

    space: GraphSpace
    shards: tuple[Shard, ...]
    properties: Properties | None = None
    inputs: InputSpace | None = None
    """What the graphs are predicted from, if the dataset holds it."""

    @property
    def rows(self) -> int:
        """Graphs in all shards."""
        return sum(shard.rows for shard in self.shards)


def write_shards(
    folder: Path, graphs: Iterable[Graph], space: GraphSpace, shard_rows: int = 65_536
) -> Manifest:
    """Write graphs to shards, a few at a time; every graph must lie in `space`."""
    return write_packed(folder, _packed_chunks(graphs, space, shard_rows), space)


def write_packed(
    folder: Path,
    shards_of: Iterable[PackedGraphs],
    space: GraphSpace,
    property_names: tuple[str, ...] = (),
    inputs: InputSpace | None = None,
) -> Manifest:
    """Write one shard per pack of graphs, then the manifest."""
    spread = _Spread(property_names)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    for old in folder.glob("graphs-*.parquet*"):
        old.unlink()
    shards = []
    for number, chunk in enumerate(shards_of):
        name = f"graphs-{number:05d}.parquet"
        chunk.check(space, name)
        write_table(to_table(chunk), folder / name)
        shards.append(Shard(name, len(chunk), sha256_of(folder / name)))
        spread.add(chunk.properties)
    if not shards:
        raise ValueError(f"no graphs to write to {folder}")
    manifest = Manifest(space, tuple(shards), spread.properties(), inputs)
    values = {**dataclasses.asdict(manifest), "space": space.as_data()}
    if inputs is None:
        del values["inputs"]
    write_whole(folder / MANIFEST, json.dumps(values, indent=2))
    return manifest


def write_table(table: pa.Table, path: Path, row_group_size: int | None = None) -> None:
    """Write a parquet file that appears only when it is complete."""
    with whole(path) as partial:
        pq.write_table(table, partial, compression="zstd", row_group_size=row_group_size)


def read_manifest(folder: Path) -> Manifest:
    """Read what a dataset folder holds."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no {MANIFEST}; it is not a finished dataset")
    values = read_json(path)
    if not isinstance(values, dict) or not {"space", "shards"} <= values.keys():
        raise ValueError(f"{path} is not a manifest: it needs 'space' and 'shards'")
    shards = tuple(build(Shard, shard) for shard in values["shards"])
    known = values.get("properties")
    properties = (
        None
        if known is None
        else Properties(*(tuple(known[field.name]) for field in dataclasses.fields(Properties)))
    )
    inputs = None if "inputs" not in values else build(InputSpace, values["inputs"])
    return Manifest(build(GraphSpace, values["space"]), shards, properties, inputs)


def check_shard(folder: Path, shard: Shard) -> None:
    """Raise BadShardError unless the shard's bytes are what its manifest records."""
    path = folder / shard.file
    if not path.is_file():
        raise BadShardError(f"shard {path} is missing")
    found = sha256_of(path)
    if found != shard.sha256:
        raise BadShardError(
            f"shard {path} is damaged: sha256 {found[:12]}..., expected {shard.sha256[:12]}..."
        )


def read_shard(folder: Path, shard: Shard, directed: bool) -> PackedGraphs:
    """Read one shard into memory."""
    return from_table(pq.read_table(folder / shard.file, memory_map=True), directed)


def from_table(table: pa.Table, directed: bool) -> PackedGraphs:
    """Graphs of a table with the three columns of a shard."""
    nodes, edges, labels = (
        table.column(name).combine_chunks() for name in ("node_labels", "edges", "edge_labels")
    )
    pairs = edges.flatten().to_numpy(zero_copy_only=False).reshape(-1, 2)
    return PackedGraphs(
        _list_offsets(nodes),
        nodes.flatten().to_numpy(zero_copy_only=False),
        _list_offsets(labels),
        pairs,
        labels.flatten().to_numpy(zero_copy_only=False),
        directed,
        _fixed_rows(table, "properties"),
        _features_of(table, "node_features", len(nodes.flatten())),
        _features_of(table, "edge_features", len(pairs)),
        _fixed_rows(table, "inputs"),
    )


def to_table(packed: PackedGraphs) -> pa.Table:
    """Three columns of a shard."""
    small = pa.int32()
    edge_offsets = packed.edge_offsets * 2
    columns = {
        "node_labels": _list_array(packed.node_offsets, packed.node_labels, small),
        "edges": _list_array(edge_offsets, packed.edges.reshape(-1), small),
        "edge_labels": _list_array(packed.edge_offsets, packed.edge_labels, small),
    }
    for name, offsets, values in (
        ("node_features", packed.node_offsets, packed.node_features),
        ("edge_features", packed.edge_offsets, packed.edge_features),
    ):
        if values is not None:
            flat = values.reshape(-1)
            columns[name] = _list_array(offsets * values.shape[1], flat, pa.float32())
    for name, rows, kind in (
        ("properties", packed.properties, pa.float32()),
        ("inputs", packed.inputs, pa.uint8()),
    ):
        if rows is not None:
            flat = pa.array(rows.reshape(-1), kind)
            columns[name] = pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])
    return pa.table(columns)


def _features_of(table: pa.Table, name: str, rows: int) -> NDArray[np.float32] | None:
    if name not in table.column_names or rows == 0:
        return None
    flat = table.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(rows, -1)


def _fixed_rows(table: pa.Table, name: str) -> NDArray[Any] | None:
    """Column of rows of equal length, if the table has it."""
    if name not in table.column_names:
        return None
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0)
    values = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(column), column.type.list_size)


class _Spread:
    """Mean and deviation of each property, over shards added one at a time."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.count, self.total, self.squares = np.zeros((3, len(names)))

    def add(self, values: NDArray[np.float32] | None) -> None:
        """Add another shard; unknown values do not count."""
        if values is None or not self.names:
            return
        wide = values.astype(np.float64)
        self.count += np.isfinite(wide).sum(axis=0)
        self.total += np.nansum(wide, axis=0)
        self.squares += np.nansum(wide**2, axis=0)

    def properties(self) -> Properties | None:
        """Entry for the manifest; a constant property has deviation 1."""
        if not self.names:
            return None
        count = self.count.clip(1)
        mean = self.total / count
        deviation = np.sqrt((self.squares / count - mean**2).clip(0))
        is_constant = deviation <= 1e-9 * (1 + np.abs(mean))
        deviation = np.where(is_constant, 1.0, deviation)
        return Properties(self.names, tuple(mean.tolist()), tuple(deviation.tolist()))


def _list_array(offsets: np.ndarray, values: np.ndarray, kind: pa.DataType) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values, kind))


def _list_offsets(array: pa.ListArray) -> np.ndarray:
    offsets = array.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0]


def _packed_chunks(graphs: Iterable[Graph], space: GraphSpace, size: int) -> Iterator[PackedGraphs]:
    iterator = iter(graphs)
    while chunk := list(islice(iterator, size)):
        space.check(chunk)
        yield PackedGraphs.from_graphs(chunk)
