"""Sets of graphs that the page compares with: one that comes with the package, and users' files."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from itertools import islice
from pathlib import Path, PurePath
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.codec.failures import are_finite
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.molecules.files import FORMATS, kind_of, open_molecules
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.rows import read_rows
from grale.web.edits import Background
from grale.web.limits import Limits
from grale.web.refusals import Refused

BUILT_IN = "built-in"


class GraphSet(NamedTuple):
    """Graphs that the model could take, and their descriptions."""

    title: str
    graphs: list[Graph]
    descriptions: NDArray[np.float32]
    num_rows: int
    """Rows of the file, failed ones included."""
    failures: list[dict[str, Any]]
    """Row and reason of those that failed."""

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
                chunks = file.rows(self.limits.max_set_rows + 1)
                entries = [entry for chunk in islice(chunks, 1) for entry in chunk.entries]
            except (ValueError, OSError) as error:
                raise Refused(422, str(error).replace(str(path), name)) from None
        if len(entries) > self.limits.max_set_rows:
            most = self.limits.max_set_rows
            raise Refused(413, f"{name} has more than {most} rows; use grale embed for such files")
        items = read_rows(entries, file.text, self.model.space)
        graphs = [item for item in items if isinstance(item, Graph)]
        described = self.model.describe(graphs, batch_size=32, on_error="null")
        is_good = are_finite(described) if len(described) else np.zeros(0, dtype=bool)
        failures = [
            {"row": row, "entry": str(entries[row] or "")[:80], "reason": item}
            for row, item in enumerate(items)
            if isinstance(item, str)
        ]
        kept = [graph for graph, good in zip(graphs, is_good) if good]
        return GraphSet(name, kept, described[is_good], len(entries), failures)
