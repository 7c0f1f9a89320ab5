"""Sets of graphs that the page compares with: one that comes with the package, and users' files."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from pathlib import Path, PurePath
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.codec.failures import are_finite
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.molecules.files import FORMATS, Chunk, kind_of, open_molecules
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.map_rows import can_colour, ids_of
from grale.tasks.rows import read_rows
from grale.web.edits import Background
from grale.web.limits import Limits
from grale.web.refusals import Refused

BUILT_IN = "built-in"
MOST_COLOURS = 40
LONGEST_NAME = 200  # of a column to colour by


class GraphSet(NamedTuple):
    """Graphs that the model could take, and their descriptions."""

    title: str
    graphs: list[Graph]
    descriptions: NDArray[np.float32]
    num_rows: int
    """Rows of the file, failed ones included."""
    failures: list[dict[str, Any]]
    """Row and reason of those that failed."""
    ids: list[str] | None = None
    """What the file calls its rows."""
    columns: Mapping[str, list[Any]] = {}
    """Columns of the file that a map can be coloured by."""

    def nearest(self, description: NDArray[np.float32], count: int) -> list[tuple[int, float]]:
        """Graphs with the nearest descriptions, and their distances."""
        distances = np.linalg.norm(self.descriptions - description, axis=1)
        order = np.argsort(distances, kind="stable")[:count]
        return [(int(place), float(distances[place])) for place in order]


class GraphSets:
    """The sets of one server, by their id; of users' files the newest are kept."""

    def __init__(self, model: GraphAutoencoder, background: Background, limits: Limits) -> None:
        self.model, self.background, self.limits = model, background, limits
        self.uploaded: OrderedDict[str, GraphSet] = OrderedDict()
        self.num_uploads = 0
        self.lock = Lock()

    def find(self, name: str) -> GraphSet:
        """The set of that id, or `Refused`."""
        if name == BUILT_IN:
            known = self.background.examples
            title = "examples that come with grale"
            return GraphSet(title, known.graphs, known.descriptions, len(known.graphs), [])
        with self.lock:
            if name not in self.uploaded:
                raise Refused(404, "this set is not here any more; upload its file again")
            return self.uploaded[name]

    def add(self, name: str, text: str) -> str:
        """Read and describe a file of molecules; return its id."""
        if not is_molecular(self.model.space):
            raise Refused(422, "this model was not trained on molecules; it reads no such files")
        found = self._read(PurePath(name.replace("\\", "/")).name[:80] or "file.csv", text)
        with self.lock:
            self.num_uploads += 1
            key = f"file-{self.num_uploads}"
            self.uploaded[key] = found
            while len(self.uploaded) > self.limits.max_sets:
                self.uploaded.popitem(last=False)
        return key

    def _read(self, name: str, text: str) -> GraphSet:
        kind = kind_of(Path(name))
        if kind not in FORMATS or kind == "parquet":
            raise Refused(422, f"{name}: the name should end in csv, tsv, smi or sdf")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"file.{kind}"
            path.write_text(text, encoding="utf-8")
            try:
                file = open_molecules(path)
                chunks = file.rows(self.limits.max_set_rows + 1, file.survey().columns)
                chunk = next(chunks, Chunk([]))
            except (ValueError, OSError) as error:
                raise Refused(422, str(error).replace(str(path), name)) from None
        entries = chunk.entries
        if len(entries) > self.limits.max_set_rows:
            most = self.limits.max_set_rows
            raise Refused(413, f"{name} has more than {most} rows; use grale embed for such files")
        items = read_rows(entries, file.text, self.model.space)
        taken = [(row, item) for row, item in enumerate(items) if isinstance(item, Graph)]
        graphs = [graph for _, graph in taken]
        described = self.model.describe(graphs, batch_size=32, on_error="null")
        is_good = are_finite(described) if len(described) else np.zeros(0, dtype=bool)
        failures = [
            {"row": row, "entry": str(entries[row] or "")[:80], "reason": item}
            for row, item in enumerate(items)
            if isinstance(item, str)
        ]
        kept = [pair for pair, good in zip(taken, is_good) if good]
        rows = [row for row, _ in kept]
        places = pa.array(rows, pa.int64())
        others = {
            column: values.take(places).to_pylist() for column, values in chunk.others.items()
        }
        return GraphSet(
            name,
            [graph for _, graph in kept],
            described[is_good],
            len(entries),
            failures,
            ids_of(others, rows),
            _colours(others),
        )


def _colours(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The first columns that a map can be coloured by."""
    found = {n: v for n, v in columns.items() if len(n) <= LONGEST_NAME and can_colour(n, v)}
    return dict(islice(found.items(), MOST_COLOURS))
