"""Encode and decode a file of molecules, and compare each row with its reconstruction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.codec.decode import decode_smiles
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import provenance
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct_good
from grale.data.molecules.folder import Molecules
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.matching.local_search import edit_distance_bound
from grale.metrics.isomorphism import is_isomorphic
from grale.tasks.outputs import check_output
from grale.tasks.row_output import ROW_SUFFIXES, written_rows
from grale.tasks.rows import read_rows

ROWS = 4_096
RECONSTRUCTED = pa.schema(
    [
        ("row", pa.int64()),
        ("entry", pa.string()),
        ("reconstruction", pa.string()),
        ("exact", pa.bool_()),
        ("edit_distance", pa.int64()),
        ("candidates", pa.list_(pa.string())),
        ("status", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass
class ReconstructReport:
    """Counts over all rows."""

    rows: int = 0
    failed: int = 0
    valid: int = 0
    exact: int = 0
    edits: int = 0

    @property
    def reconstructed(self) -> int:
        """Rows that the model could take."""
        return self.rows - self.failed


def reconstruct_file(
    model: GraphAutoencoder,
    file: Molecules,
    out: Path,
    progress: Callable[[int], object] | None = None,
    options: CodecOptions | None = None,
    lists_candidates: bool = False,
    model_name: str = "unnamed",
) -> ReconstructReport:
    """Reconstruct every row; rows the model cannot take keep their place and get a reason.

    With `lists_candidates`, each row also gets its likeliest valid molecules; the options say how
    many.
    """
    options = options or CodecOptions()
    if not is_molecular(model.space):
        raise ValueError("this model was not trained on molecules")
    check_output(file.path, out, ROW_SUFFIXES)
    report = ReconstructReport()
    with written_rows(out, RECONSTRUCTED, provenance(model, model_name, "latent")) as write:
        for chunk in file.rows(ROWS):
            items = read_rows(chunk.entries, file.text, model.space)
            items, result = reconstruct_good(model, items, options)
            best: list[list[str] | None] = [None] * len(result.graphs)
            if lists_candidates and result.graphs:
                best = [*decode_smiles(model, result.latents, options)]
            again = iter(zip(result.graphs, result.mappings, best))
            records = []
            for place, (entry, item) in enumerate(zip(chunk.entries, items)):
                record: dict[str, Any] = {"row": report.rows + place, "entry": entry}
                if isinstance(item, Graph):
                    record |= _compared(item, *next(again))
                else:
                    record |= {"status": "failed", "reason": item}
                records.append(record)
            write(records)
            _count(report, records)
            if progress is not None:
                progress(len(records))
        if not report.rows:
            raise ValueError(f"{file.path} holds no rows")
    return report


def _compared(
    graph: Graph, again: Graph, mapping: NDArray[np.int64], candidates: list[str] | None
) -> dict[str, Any]:
    """Record of one reconstruction; the edit distance is an upper bound."""
    smiles = None
    with suppress(MoleculeError):
        smiles = again.to_smiles()
    exact = is_isomorphic(graph, again)
    return {
        "reconstruction": smiles,
        "exact": exact,
        "edit_distance": 0 if exact else edit_distance_bound(graph, again, mapping).edit_distance,
        "candidates": candidates,
        "status": "ok" if smiles is not None else "invalid",
        "reason": None if smiles is not None else "the reconstruction is not a valid molecule",
    }


def _count(report: ReconstructReport, records: list[dict[str, Any]]) -> None:
    report.rows += len(records)
    for record in records:
        report.failed += record["status"] == "failed"
        report.valid += record.get("reconstruction") is not None
        report.exact += bool(record.get("exact"))
        report.edits += record.get("edit_distance") or 0
