"""Graphs in files: .json with one graph or a list of them, .jsonl with one per line, or folders.

    {"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]], "edge_labels": [0, 0], "directed": false}

Other entries of such an object, such as an id or a measured value, are columns beside the graph. A
folder holds .json and .jsonl files, or shards that `grale prepare` has written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from grale.data.molecules.columns import ColumnTypes, Survey
from grale.data.molecules.files import Chunk, Text, chunks
from grale.data.molecules.lines import NOT_READ, lines_of, open_text, why_not_read
from grale.data.molecules.records import NAME, Record
from grale.data.sources import stored_graphs
from grale.data.storage import MANIFEST
from grale.files import read_json
from grale.graphs.graph import Graph

ONE, MANY = (".json",), (".jsonl", ".ndjson")
KEYS = ("node_labels", "edges", "edge_labels", "directed", "node_features", "edge_features")


def graph_of(values: Any) -> Graph:
    """Make a graph from the values of a JSON object, or raise a ValueError that says what fails."""
    if not isinstance(values, dict) or "node_labels" not in values or not values.keys() <= {*KEYS}:
        raise ValueError(f"it must be an object with node_labels and no other keys than {[*KEYS]}")
    if not isinstance(values.get("directed", False), bool):
        raise ValueError(f"directed must be true or false, got {values['directed']!r:.40}")
    return Graph(**values)


def text_of(graph: Graph) -> str:
    """The JSON object of a graph."""
    values: dict[str, Any] = {
        "node_labels": graph.node_labels.tolist(),
        "edges": graph.edges.tolist(),
        "edge_labels": graph.edge_labels.tolist(),
    }
    if graph.directed:
        values["directed"] = True
    if graph.node_features is not None:
        values["node_features"] = graph.node_features.tolist()
    if graph.edge_features is not None:
        values["edge_features"] = graph.edge_features.tolist()
    return json.dumps(values)


def parse_graph(entry: str | None) -> Graph | str:
    """Read one entry as a graph, or say in one sentence why that fails."""
    if entry is None:
        return "the row has no entry"
    if reason := why_not_read(entry):
        return reason
    try:
        return graph_of(json.loads(entry))
    except (ValueError, TypeError, RecursionError) as error:
        return f"not a graph: {str(error).splitlines()[0][:200]}"


@dataclass(frozen=True)
class GraphFiles:
    """Files of graphs in the order of their names, read as one."""

    path: Path
    files: tuple[Path, ...]
    """Files of JSON, or one folder of shards."""
    reader: Callable[[Path], Iterator[Record]] | None = None
    """Reads one of the files; by default as JSON or shards."""
    text: Text = "graph"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        found = [(file, file.stat()) for file in self.files]
        return "\n".join(f"{f.resolve()} {s.st_size} {s.st_mtime_ns}" for f, s in found)

    def count(self) -> int:
        """Rows of all files."""
        return self.survey().num_rows

    def survey(self) -> Survey:
        """Count the graphs and find their other fields."""
        types, num_rows = ColumnTypes(), 0
        for record in self.records():
            types.see({name: str(value) for name, value in record.others.items()})
            num_rows += 1
        return Survey(num_rows, types.found())

    def rows(self, size: int, columns: Mapping[str, pa.DataType] | None = None) -> Iterator[Chunk]:
        """Entries in order, `size` at a time; see `MoleculeFile.rows`."""
        return chunks(self.records(), size, columns or {})

    def records(self, wants_others: bool = True) -> Iterator[Record]:
        """Rows one by one, across files."""
        return chain.from_iterable(map(self.reader or self._records, self.files))

    def _records(self, file: Path) -> Iterator[Record]:
        if file.is_dir():
            yield from (Record(text_of(graph), {}) for graph in stored_graphs(file))
        elif file.suffix.lower() in MANY:
            with open_text(file) as stream:
                yield from (_record_of_line(line) for line in lines_of(stream))
        else:
            values = read_json(file)
            for each in values if isinstance(values, list) else [values]:
                record = _record(each)
                alone = {NAME: file.stem} if len(self.files) > 1 else {}
                yield Record(record.entry, alone | {**record.others})


def _record_of_line(line: str) -> Record:
    if why_not_read(line.rstrip("\r\n")):
        return Record(line.rstrip("\r\n"), {})
    try:
        return _record(json.loads(line))
    except (ValueError, RecursionError) as error:
        return Record(f"{NOT_READ}the line is not JSON: {str(error)[:100]}", {})


def _record(values: Any) -> Record:
    """Split an object into the graph and its other fields."""
    if not isinstance(values, dict):
        return Record(json.dumps(values), {})
    graph = {key: value for key, value in values.items() if key in KEYS}
    others = {key: value for key, value in values.items() if key not in KEYS}
    return Record(json.dumps(graph), {key: cell_of(value) for key, value in others.items()})


def cell_of(value: Any) -> Any:
    """Turn a property of a graph into a number or a text for a table; lists become JSON."""
    if isinstance(value, list | dict | bool):
        return json.dumps(value, default=str)
    return value if isinstance(value, int | float | str | None) else str(value)


def open_graphs(path: Path, column: str | None = None) -> GraphFiles:
    """Open a file or a folder of graphs, or raise and say what would help."""
    if column is not None:
        raise ValueError(f"{path}: files of graphs have no columns, so none is called {column!r}")
    if not path.exists():
        raise FileNotFoundError(f"{path} is not a file or a folder")
    if not path.is_dir():
        if path.suffix.lower() not in ONE + MANY:
            raise ValueError(
                f"{path}: this model was not trained on molecules; graphs are in files that end "
                f"in {', '.join(ONE + MANY)}, or in a folder of them"
            )
        return GraphFiles(path, (path,))
    if (path / MANIFEST).is_file():
        return GraphFiles(path, (path,))
    hidden = ("_", ".")
    files = sorted(
        file for file in path.iterdir()
        if file.suffix.lower() in ONE + MANY and not file.name.startswith(hidden)
    )  # fmt: skip
    if not files:
        raise FileNotFoundError(f"{path} holds no file of graphs that ends in {', '.join(ONE)} "
                                f"or {', '.join(MANY)}, and no shards")  # fmt: skip
    return GraphFiles(path, tuple(files))
