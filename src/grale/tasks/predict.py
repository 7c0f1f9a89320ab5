"""Predict the graphs of a file of inputs (paper: "Graph prediction").

    pictures, arrays, folders of them     `grale.inputs.files`
    files of molecules                    their fingerprints are computed
    a split of a dataset of pairs         its graphs are known, so predictions are scored

One row in, one row out, in order; a row that the model cannot take has a reason.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.codec.graph_predictor import GraphPredictor
from grale.codec.identity import provenance
from grale.codec.options import CodecOptions
from grale.codec.predict import likeliest_and_candidates, screen_inputs
from grale.data.molecules.folder import open_file_or_folder
from grale.data.pairs import open_pairs, stored_pairs
from grale.data.storage import MANIFEST
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.inputs.files import is_input_file, read_inputs
from grale.tasks.outputs import check_output
from grale.tasks.row_output import ROW_SUFFIXES, written_rows
from grale.training.prediction_scores import compare

ROWS = 1_024
PREDICTED = pa.schema(
    [
        ("row", pa.int64()),
        ("name", pa.string()),
        ("smiles", pa.string()),
        ("node_labels", pa.list_(pa.int64())),
        ("edges", pa.list_(pa.list_(pa.int64()))),
        ("edge_labels", pa.list_(pa.int64())),
        ("candidates", pa.list_(pa.string())),
        ("exact", pa.bool_()),
        ("edit_distance", pa.int64()),
        ("status", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True, kw_only=True)
class PredictConfig:
    """How to predict a file."""

    candidates: int = 1
    """Graphs to list for each input, the likeliest first."""
    tries: int = 20
    """Likeliest graphs to look at for each of them."""
    batch_size: int = 256
    column: str | None = None
    """Column of the SMILES, in a file of molecules."""

    def __post_init__(self) -> None:
        CodecOptions(
            candidates=self.candidates, molecule_tries=self.tries, batch_size=self.batch_size
        )


@dataclass
class PredictReport:
    """Counts over all rows."""

    rows: int = 0
    failed: int = 0
    valid: int = 0
    """Predictions that are molecules, if the model predicts molecules."""
    known: int = 0
    """Rows whose graph is known."""
    exact: int = 0
    edits: int = 0
    seconds: float = 0.0
    """Time for predicting alone: reading and scoring are not in it."""

    @property
    def graphs_per_second(self) -> float:
        """Predictions per second."""
        return (self.rows - self.failed) / max(self.seconds, 1e-9)


class Item(NamedTuple):
    """One input, and its graph if that is known."""

    name: str
    row: NDArray[np.uint8] | str
    target: Graph | None = None


def predict_file(
    model: GraphPredictor,
    source: Path,
    out: Path,
    config: PredictConfig | None = None,
    progress: Callable[[int], object] = lambda done: None,
    model_name: str = "unnamed",
) -> PredictReport:
    """Predict every row of `source`; `out` is a parquet or csv that appears when it is complete."""
    config = config or PredictConfig()
    check_output(source, out, ROW_SUFFIXES)
    items = open_inputs(model, source, config)
    first = next(items, None)
    if first is None:
        raise ValueError(f"{source} holds no inputs")
    report = PredictReport()
    items = chain([first], items)
    with written_rows(out, PREDICTED, provenance(model, model_name, "prediction")) as write:
        while part := list(islice(items, ROWS)):
            write(_predicted(model, part, config, report))
            progress(len(part))
    return report


def open_inputs(model: GraphPredictor, source: Path, config: PredictConfig) -> Iterator[Item]:
    """Inputs of a file or folder, one by one."""
    if (source / MANIFEST).is_file():
        return _pairs(model, source)
    if not source.exists():
        raise FileNotFoundError(f"{source} is not there")
    if is_input_file(source):
        found = read_inputs(source, model.inputs)
        return (Item(each.name, _sentence(each.row)) for each in found)
    if model.inputs.is_image:
        raise ValueError(
            f"{source} holds no images; this model takes {model.inputs.called()}: a .png or .npy "
            "file, a folder of them, or a split of a dataset of pairs"
        )
    return _molecules(model, source, config)


def _sentence(row: NDArray[np.uint8] | str) -> NDArray[np.uint8] | str:
    return f"the input {row}" if isinstance(row, str) else row


def _pairs(model: GraphPredictor, folder: Path) -> Iterator[Item]:
    """Rows of a split; its inputs must be those of the model."""
    manifest = open_pairs(folder)
    if manifest.inputs != model.inputs:
        assert manifest.inputs is not None  # `open_pairs` refuses others
        raise ValueError(
            f"{folder} holds {manifest.inputs.called()} per row, but this model takes "
            f"{model.inputs.called()}"
        )
    row = 0
    for pack in stored_pairs(folder):
        assert pack.inputs is not None
        for place, graph in enumerate(pack.graphs()):
            reason = model.space.why_not(graph)
            if reason is not None:
                yield Item(str(row), f"the target {reason}; this model cannot predict it")
            else:
                yield Item(str(row), pack.inputs[place], graph)
            row += 1


def _molecules(model: GraphPredictor, source: Path, config: PredictConfig) -> Iterator[Item]:
    """Fingerprints of a file of molecules; the molecule itself is the target."""
    file = open_file_or_folder(source, config.column)
    if file.text != "smiles":
        raise ValueError(
            f"{source} holds no SMILES; give csv, smi or parquet with a column of them"
        )
    for chunk in file.rows(ROWS):
        found = screen_inputs(chunk.entries, model.inputs)
        for entry, row in zip(chunk.entries, found):
            target = None if isinstance(row, str) or entry is None else Graph.from_smiles(entry)
            reason = None if target is None else model.space.why_not(target)
            if reason is not None:
                row = f"the molecule {reason}; this model cannot predict it"
            yield Item(str(entry), row, target)


def _predicted(
    model: GraphPredictor, part: Sequence[Item], config: PredictConfig, report: PredictReport
) -> list[dict[str, Any]]:
    good = [item for item in part if not isinstance(item.row, str)]
    begin = time.perf_counter()
    lists = iter(_candidates(model, good, config))
    report.seconds += time.perf_counter() - begin
    rows = []
    for item in part:
        found = None if isinstance(item.row, str) else next(lists)
        rows.append(_record(model, report.rows, item, found))
        _count(report, rows[-1])
    return rows


def _candidates(
    model: GraphPredictor, items: Sequence[Item], config: PredictConfig
) -> list[list[Graph]]:
    """Likeliest graph of each input, then its candidates if they are asked for."""
    if not items:
        return []
    rows = np.stack([item.row for item in items if not isinstance(item.row, str)])
    if config.candidates == 1:
        return [[graph] for graph in model.predict(rows, config.batch_size) if graph is not None]
    return likeliest_and_candidates(model, rows, config.candidates, config.tries, config.batch_size)


def _record(
    model: GraphPredictor, number: int, item: Item, found: list[Graph] | None
) -> dict[str, Any]:
    """One row of the output; the first graph is the prediction, the others are candidates."""
    record: dict[str, Any] = {"row": number, "name": item.name}
    if found is None:
        return record | {"status": "error", "reason": str(item.row)}
    best, others = found[0], found[1:]
    record |= {
        "smiles": _smiles(model, best),
        "node_labels": best.node_labels.tolist(),
        "edges": best.edges.tolist(),
        "edge_labels": best.edge_labels.tolist(),
        "candidates": [_text(model, graph) for graph in others],
        "status": "ok",
    }
    if is_molecular(model.space) and model.predicts_edge_labels and record["smiles"] is None:
        record |= {"status": "invalid", "reason": "the likeliest graph is not a valid molecule"}
    if item.target is not None:
        scored = compare([item.target], [best], model.predicts_edge_labels)
        record |= {"exact": not scored.distances[0], "edit_distance": scored.distances[0]}
    return record


def _smiles(model: GraphPredictor, graph: Graph) -> str | None:
    if not (is_molecular(model.space) and model.predicts_edge_labels):
        return None
    try:
        return graph.to_smiles()
    except MoleculeError:
        return None


def _text(model: GraphPredictor, graph: Graph) -> str:
    """A candidate as SMILES, or as JSON if it is not a molecule."""
    smiles = _smiles(model, graph)
    if smiles is not None:
        return smiles
    parts = ("node_labels", "edges", "edge_labels")
    return json.dumps({name: getattr(graph, name).tolist() for name in parts})


def _count(report: PredictReport, record: dict[str, Any]) -> None:
    report.rows += 1
    report.failed += record["status"] == "error"
    report.valid += record.get("smiles") is not None
    if record.get("exact") is not None:
        report.known += 1
        report.exact += record["exact"]
        report.edits += record["edit_distance"]
