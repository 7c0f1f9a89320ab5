"""Sets of graphs as text tables: the TU format, and csv as OGB stores it.

TU    NAME_A.txt, NAME_graph_indicator.txt and, if there are any, NAME_node_labels.txt,
      NAME_node_attributes.txt, the same of edges, NAME_graph_labels.txt, NAME_graph_attributes.txt;
      in a folder or a zip file
OGB   edge.csv, num-node-list.csv, num-edge-list.csv and, if there are any, node-feat.csv,
      edge-feat.csv, graph-label.csv; also .gz, also in the folder `raw`

Columns of integers are categorical, columns with a decimal point are continuous. Graphs are
undirected unless told otherwise; an edge may be listed in both directions.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from grale.files import MAX_DATA_BYTES
from grale.graphs.record import GraphRecord, RecordError

BLOCK = 1 << 20

Opened = Callable[[str], bytes | None]
"""Content of a table by its name, or None if there is none."""


class _Set(NamedTuple):
    """All graphs of a set in flat tables; edges are sorted by graph."""

    where: str
    sizes: NDArray[np.int64]
    edge_counts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """Places inside their graph."""
    nodes: dict[str, list]
    edges: dict[str, list]
    graphs: dict[str, list]


def find_tu(path: Path) -> str | None:
    """Name of the TU set in a folder or zip file, or None."""
    if path.is_dir():
        names = sorted(file.name for file in path.iterdir())
    elif path.suffix == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = sorted(archive.namelist())
    else:
        return None
    found = [name for name in names if name.endswith("_A.txt")]
    if len(found) > 1:
        raise RecordError(f"{path} holds several sets: {', '.join(found[:5])}; give one of them")
    return found[0].removesuffix("_A.txt") if found else None


def read_tu(path: Path, directed: bool = False) -> Iterator[GraphRecord]:
    """Graphs of a set in the TU format."""
    name = find_tu(path)
    if name is None:
        raise RecordError(f"{path} holds no file that ends in _A.txt")
    if path.is_dir():
        yield from _records(_tu_set(path, _in_folder(path, f"{name}_", ".txt")), directed)
        return
    with zipfile.ZipFile(path) as archive:
        yield from _records(_tu_set(path, _in_archive(archive, f"{name}_")), directed)


def _in_folder(folder: Path, prefix: str, suffix: str) -> Opened:
    def read(name: str) -> bytes | None:
        file = folder / f"{prefix}{name}{suffix}"
        packed = file.with_name(f"{file.name}.gz")
        if packed.is_file():
            with gzip.open(packed) as stream:
                _check_size(_size_of(stream), packed)
                stream.seek(0)
                return stream.read()
        if not file.is_file():
            return None
        _check_size(file.stat().st_size, file)
        return file.read_bytes()

    return read


def _in_archive(archive: zipfile.ZipFile, prefix: str) -> Opened:
    def read(name: str) -> bytes | None:
        member = f"{prefix}{name}.txt"
        if member not in archive.namelist():
            return None
        _check_size(archive.getinfo(member).file_size, member)  # no more than that is unpacked
        return archive.read(member)

    return read


def _size_of(stream: gzip.GzipFile) -> int:
    """Bytes that a stream unpacks to, counted in little memory and not far beyond the limit."""
    size = 0
    while size <= MAX_DATA_BYTES and (piece := stream.read(BLOCK)):
        size += len(piece)
    return size


def _check_size(size: int, name: object) -> None:
    if size > MAX_DATA_BYTES:
        raise RecordError(f"{name} has more than {MAX_DATA_BYTES} bytes, unpacked; divide the set")


def _tu_set(path: Path, read: Opened) -> _Set:
    owner = _column(_table(read, "graph_indicator", path, needed=True)) - 1
    arcs = _matrix(_table(read, "A", path, needed=True)) - 1
    if (np.diff(owner) < 0).any() or len(owner) == 0 or owner[0] < 0:
        raise RecordError(f"{path}: graph_indicator must count upwards from 1")
    outside = np.flatnonzero(((arcs < 0) | (arcs >= len(owner))).any(axis=1))
    if len(outside):
        raise RecordError(
            f"{path}: line {outside[0] + 1} of A names node {int(arcs[outside[0]].max()) + 1}, but "
            f"there are {len(owner)}"
        )
    crossing = np.flatnonzero(owner[arcs[:, 0]] != owner[arcs[:, 1]])
    if len(crossing):
        raise RecordError(f"{path}: line {crossing[0] + 1} of A joins nodes of two graphs")
    count = int(owner[-1]) + 1
    sizes = np.bincount(owner, minlength=count)
    first = np.cumsum(sizes) - sizes
    of_graph = owner[arcs[:, 0]]
    order = np.argsort(of_graph, kind="stable")
    tables = {
        item: _values(
            {
                "label": _table(read, f"{item}_labels", path),
                "features": _table(read, f"{item}_attributes", path),
            },
            rows,
            path,
        )
        for item, rows in (("node", len(owner)), ("edge", len(arcs)), ("graph", count))
    }
    edges = {name: [column[row] for row in order] for name, column in tables["edge"].items()}
    return _Set(
        str(path),
        sizes,
        np.bincount(of_graph, minlength=count),
        (arcs - first[of_graph][:, None])[order],
        tables["node"],
        edges,
        tables["graph"],
    )


def find_ogb(path: Path) -> Path | None:
    """Folder of the tables of an OGB set, or None."""
    for folder in (path, path / "raw"):
        if any((folder / name).is_file() for name in ("edge.csv", "edge.csv.gz")):
            return folder
    return None


def read_ogb(path: Path, directed: bool = False) -> Iterator[GraphRecord]:
    """Graphs of csv files as OGB stores them."""
    folder = find_ogb(path)
    if folder is None:
        raise RecordError(f"{path} holds no edge.csv or edge.csv.gz")
    read = _in_folder(folder, "", ".csv")
    sizes = _column(_table(read, "num-node-list", folder, needed=True))
    counts = _column(_table(read, "num-edge-list", folder, needed=True))
    ends = _matrix(_table(read, "edge", folder, needed=True))
    if len(ends) != counts.sum():
        raise RecordError(f"{folder}: {len(ends)} edges, but num-edge-list says {counts.sum()}")
    tables = [
        _values({"label": _table(read, name, folder)}, rows, folder)
        for name, rows in (
            ("node-feat", int(sizes.sum())),
            ("edge-feat", len(ends)),
            ("graph-label", len(sizes)),
        )
    ]
    yield from _records(_Set(str(folder), sizes, counts, ends, *tables), directed)


def _table(read: Opened, name: str, path: Path, needed: bool = False) -> pa.Table | None:
    content = read(name)
    if content is None:
        if needed:
            raise RecordError(f"{path}: the table {name} is missing")
        return None
    if not content or content.isspace():
        return None
    try:
        options = pa.csv.ReadOptions(autogenerate_column_names=True)
        return pa.csv.read_csv(io.BytesIO(content), read_options=options)
    except pa.ArrowInvalid as error:
        raise RecordError(f"{path}: the table {name} cannot be read: {error}") from error


def _matrix(table: pa.Table | None) -> NDArray[np.int64]:
    if table is None:
        return np.zeros((0, 2), dtype=np.int64)
    return np.stack([column.to_numpy().astype(np.int64) for column in table.columns], axis=1)


def _column(table: pa.Table | None) -> NDArray[np.int64]:
    return _matrix(table)[:, 0]


def _values(tables: dict[str, pa.Table | None], rows: int, path: Path) -> dict[str, list]:
    """Columns as attributes: one value per row, or a list of them."""
    found: dict[str, list] = {}
    for name, table in tables.items():
        if table is None:
            continue
        if table.num_rows != rows:
            raise RecordError(f"{path}: a table has {table.num_rows} rows instead of {rows}")
        whole = [c.to_pylist() for c in table.columns if not pa.types.is_floating(c.type)]
        parts = [c.to_pylist() for c in table.columns if pa.types.is_floating(c.type)]
        for kind, columns in ((name, whole), ("features", parts)):
            if len(columns) == 1:
                found[kind] = columns[0]
            elif columns:
                found[kind] = [list(row) for row in zip(*columns)]
    return found


def _records(tables: _Set, directed: bool) -> Iterator[GraphRecord]:
    node, edge = 0, 0
    for number, (size, count) in enumerate(zip(tables.sizes.tolist(), tables.edge_counts.tolist())):
        yield GraphRecord(
            f"{tables.where}, graph {number}",
            range(size),
            _slice(tables.nodes, node, size),
            [(start, end) for start, end in tables.ends[edge : edge + count].tolist()],
            _slice(tables.edges, edge, count),
            directed,
            {name: column[number] for name, column in tables.graphs.items()},
        )
        node, edge = node + size, edge + count


def _slice(columns: dict[str, list], start: int, count: int) -> list[dict]:
    return [
        {name: column[row] for name, column in columns.items() if column[row] is not None}
        for row in range(start, start + count)
    ]
