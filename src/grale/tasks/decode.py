"""Decode a file of embeddings to molecules: one row in, one row out, with a status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.codec.decode import decode_smiles
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import check_same_model, provenance
from grale.codec.options import CodecOptions
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.outputs import check_output
from grale.tasks.row_output import ROW_SUFFIXES, written_rows
from grale.tasks.vector_files import open_vectors

LARGEST = float(np.finfo(np.float32).max)
DECODED = pa.schema(
    [
        ("row", pa.int64()),
        ("smiles", pa.string()),
        ("candidates", pa.list_(pa.string())),
        ("verified", pa.bool_()),
        ("status", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True)
class DecodeReport:
    """Counts over all rows."""

    rows: int = 0
    without_embedding: int = 0
    without_molecule: int = 0

    def __add__(self, other: DecodeReport) -> DecodeReport:
        return DecodeReport(
            self.rows + other.rows,
            self.without_embedding + other.without_embedding,
            self.without_molecule + other.without_molecule,
        )

    @property
    def validity(self) -> float:
        """Share of embeddings that gave a valid molecule."""
        embedded = self.rows - self.without_embedding
        return 1 - self.without_molecule / embedded if embedded else float("nan")


def decode_file(
    model: GraphAutoencoder,
    path: Path,
    out: Path,
    options: CodecOptions | None = None,
    progress: Callable[[int], object] | None = None,
    model_name: str = "unnamed",
) -> DecodeReport:
    """Decode the column `embedding` of a file of vectors or of a folder of them, as a stream.

    The suffix of `out` says whether the rows become a parquet or a csv (`grale.tasks.row_output`).
    Vectors that another model made are refused, if the file says who made them.
    """
    options = options or CodecOptions(molecule_tries=20)
    if not is_molecular(model.space):
        raise ValueError(
            "this model was not trained on molecules, and the result would be SMILES; in Python, "
            "model.decode(grale.read_vectors(FILE)) gives graphs"
        )
    check_output(path, out, ROW_SUFFIXES)
    vectors = open_vectors(path)
    check_same_model(model, vectors.made_by, str(path))
    for schema in vectors.schemas():
        _check_columns(schema, path)
    total = DecodeReport()
    with written_rows(out, DECODED, provenance(model, model_name, "latent")) as write:
        for batch in vectors.batches(("row", "embedding")):
            _check_columns(batch.schema, path)
            rows = batch["row"].to_pylist() if "row" in batch.schema.names else None
            rows = rows or list(range(total.rows, total.rows + batch.num_rows))
            latents, reasons = _latents(batch["embedding"], model.latent_dim, path)
            is_there = np.array([reason is None for reason in reasons], dtype=bool)
            found: list[list[str]] = [[] for _ in rows]
            decoded = decode_smiles(model, latents, options)
            for place, best in zip(np.flatnonzero(is_there), decoded):
                found[place] = best
            records = [_record(*values) for values in zip(rows, found, reasons)]
            if options.searched_graphs > 1:
                _verify(model, records, latents, is_there)
            write(records)
            missing = int((~is_there).sum())
            invalid = sum(record["status"] == "invalid" for record in records)
            total = total + DecodeReport(len(rows), missing, invalid)
            if progress is not None:
                progress(len(rows))
        if not total.rows:
            raise ValueError(f"{path} holds no rows")
    return total


def count_rows(path: Path) -> int:
    """Rows of a file of vectors or of a folder of them."""
    return open_vectors(path).count()


def _check_columns(schema: pa.Schema, path: Path) -> None:
    """Raise unless there is one column of embeddings, and rows are integers."""
    kinds = [field.type for field in schema if field.name == "embedding"]
    if not kinds:
        raise ValueError(f"{path} has no column 'embedding'; it has {schema.names}")
    if len(kinds) > 1:
        raise ValueError(f"{path} has {len(kinds)} columns called 'embedding'; keep one")
    inner = getattr(kinds[0], "value_type", None)
    if inner is None or not (pa.types.is_floating(inner) or pa.types.is_integer(inner)):
        raise ValueError(f"{path}: 'embedding' holds {kinds[0]}; expected lists of numbers")
    for field in schema:
        if field.name == "row" and not pa.types.is_integer(field.type):
            raise ValueError(f"{path}: 'row' holds {field.type}; expected integers")


def _latents(
    column: Any, latent_dim: int, path: Path
) -> tuple[NDArray[np.float32], list[str | None]]:
    """Embeddings that can be decoded, and for every row the reason why not, or None."""
    lists = column.to_pylist()
    lengths = {len(values) for values in lists if values is not None}
    if lengths and latent_dim not in lengths:
        raise ValueError(
            f"{path} holds embeddings of length {sorted(lengths)}, but this model expects length "
            f"{latent_dim}; use the model that made them"
        )
    reasons = [_why_not(values, latent_dim) for values in lists]
    good = [values for values, reason in zip(lists, reasons) if reason is None]
    return np.array(good, dtype=np.float32).reshape(-1, latent_dim), reasons


def _why_not(values: list[float | None] | None, latent_dim: int) -> str | None:
    """Say why an embedding cannot be decoded, or None if it can."""
    if values is None:
        return "the row has no embedding"
    if len(values) != latent_dim:
        return f"the embedding has {len(values)} numbers; this model expects {latent_dim}"
    if any(value is None or not abs(value) <= LARGEST for value in values):
        return "the embedding holds a value that is not a finite number"
    return None


def _verify(
    model: GraphAutoencoder,
    records: list[dict[str, Any]],
    latents: NDArray[Any],
    is_there: NDArray[np.bool_],
) -> None:
    """Note for each molecule whether its embedding is its row."""
    embedded = [records[place] for place in np.flatnonzero(is_there)]
    valid = [number for number, record in enumerate(embedded) if record["smiles"] is not None]
    answers = model.verify([embedded[number]["smiles"] for number in valid], latents[valid])
    for number, answer in zip(valid, answers.tolist()):
        embedded[number]["verified"] = answer


def _record(row: int, found: list[str], why_not: str | None) -> dict[str, Any]:
    status = "failed" if why_not else "ok" if found else "invalid"
    if status == "invalid":
        why_not = "no valid molecule among the likeliest graphs"
    return {
        "row": row,
        "smiles": found[0] if found else None,
        "candidates": found,
        "status": status,
        "reason": why_not,
    }
