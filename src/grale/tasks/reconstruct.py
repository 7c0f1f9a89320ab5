"""Encode and decode a file of molecules, and say of each row what came back.

Departures: not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from grale.data.molecule_files import parse_for
from grale.data.molecule_folder import Molecules
from grale.graphs.graph import Graph
from grale.graphs.molecule import MoleculeError, is_molecular
from grale.metrics.isomorphism import is_isomorphic
from grale.metrics.local_search import edit_distance_bound
from grale.model.autoencoder import GRALE
from grale.model.reconstruction import reconstruct
from grale.tasks.outputs import check_output, written_whole

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
    model: GRALE,
    file: Molecules,
    out: Path,
    progress: Callable[[int], object] | None = None,
    search: int = 1,
    candidates: int = 0,
    tries: int = 20,
    refine: int = 0,
) -> ReconstructReport:
    """Reconstruct every row; rows the model cannot take keep their place and their reason.

    With `candidates`, each row also gets so many likeliest valid molecules (`decode_candidates`);
    `refine` as in `GraphAutoencoder.encode`.
    """
    if not is_molecular(model.space):
        raise ValueError("this is no model of molecules: its labels are no atoms")
    check_output(file.path, out)
    report = ReconstructReport()
    with written_whole(out, RECONSTRUCTED) as writer:
        for chunk in file.rows(ROWS):
            items = [parse_for(model.space, entry, file.text) for entry in chunk.entries]
            graphs = [item for item in items if isinstance(item, Graph)]
            again = iter(())
            if graphs:
                result = reconstruct(model, graphs, 256, search=search, refine=refine)
                best: list[list[str] | None] = [None] * len(graphs)
                if candidates:
                    latents = model.encode(graphs, refine=refine)
                    best = [*model.decode_candidates(latents, candidates, tries, search=search)]
                again = iter(zip(result.graphs, result.mappings, best))
            records = []
            for place, (entry, item) in enumerate(zip(chunk.entries, items)):
                record: dict[str, Any] = {"row": report.rows + place, "entry": entry}
                if isinstance(item, Graph):
                    record |= _compared(item, *next(again))
                else:
                    record |= {"status": "failed", "reason": item}
                records.append(record)
            writer.write_table(pa.Table.from_pylist(records, RECONSTRUCTED))
            _count(report, records)
            if progress is not None:
                progress(len(records))
        if not report.rows:
            raise ValueError(f"{file.path} holds no rows")
    return report


def _compared(
    graph: Graph, again: Graph, mapping: Any, candidates: list[str] | None
) -> dict[str, Any]:
    """What came back of one molecule; the edit distance is an upper bound."""
    smiles = None
    with suppress(MoleculeError):
        smiles = again.to_smiles()
    exact = is_isomorphic(graph, again)
    return {
        "reconstruction": smiles,
        "exact": exact,
        "edit_distance": 0 if exact else edit_distance_bound(graph, again, mapping).distance,
        "candidates": candidates,
        "status": "ok" if smiles is not None else "invalid",
        "reason": None if smiles is not None else "the reconstruction is no valid molecule",
    }


def _count(report: ReconstructReport, records: list[dict[str, Any]]) -> None:
    report.rows += len(records)
    for record in records:
        report.failed += record["status"] == "failed"
        report.valid += record.get("reconstruction") is not None
        report.exact += bool(record.get("exact"))
        report.edits += record.get("edit_distance") or 0
