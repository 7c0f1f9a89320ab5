"""Embed a file of molecules of any length: one row in, one row out, with a status.

The file is cut into shards of rows. Each shard is parsed, encoded in batches of similar size and
written to a part file that appears only when it is complete. A killed run finds the finished parts
and continues. At the end, the parts are joined into one parquet file, or stay a folder of parts.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.codec.failures import are_finite, without_bad_vectors
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.options import CodecOptions
from grale.codec.storage import fingerprint
from grale.data.molecules.files import Text
from grale.data.molecules.folder import Molecules
from grale.data.storage import write_table
from grale.files import locked, read_json, sha256_of, write_whole
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.outputs import check_output, is_parquet, written_whole
from grale.tasks.rows import read_rows

READINGS = {"latent": (True, False), "description": (False, True), "both": (True, True)}
"""Which of the columns `embedding` and `description` are written."""
PLAN = "_plan.json"  # readers of parquet folders ignore such names


logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class EmbedConfig:
    """How to cut the work, and what to do with rows that cannot be embedded."""

    on_error: Literal["null", "skip", "raise"] = "null"
    """A failed row gets a reason instead of an embedding, is left out, or stops the run."""
    shard_rows: int = 20_000
    """Rows parsed and encoded together; a kill loses at most these."""
    batch_size: int = 256
    refine: int = 0
    """As in `GraphAutoencoder.encode`."""
    what: Literal["latent", "description", "both"] = "latent"
    """The column `embedding` (decodable), the column `description` (to compare), or both."""

    def __post_init__(self) -> None:
        if self.on_error not in ("null", "skip", "raise"):
            raise ValueError(f"on_error={self.on_error!r}; expected 'null', 'skip' or 'raise'")
        if self.what not in READINGS:
            raise ValueError(f"what={self.what!r}; expected one of {', '.join(READINGS)}")
        if self.shard_rows < 1 or self.batch_size < 1:
            raise ValueError("shard_rows and batch_size must be at least 1")
        CodecOptions(refine_steps=self.refine)


@dataclass(frozen=True)
class Shard:
    """Consecutive rows of the file."""

    number: int
    first_row: int
    entries: list[str | None]
    text: Text

    def part(self, folder: Path) -> Path:
        """Where its embeddings go."""
        return folder / f"part-{self.number:06d}.parquet"


@dataclass(frozen=True)
class ShardReport:
    """What embedding one shard took."""

    rows: int
    failed: int
    parse_seconds: float = 0.0
    encode_seconds: float = 0.0


def shards_of(file: Molecules, rows: int) -> Iterator[Shard]:
    """Cut a file into shards, reading it as a stream."""
    first = 0
    for number, chunk in enumerate(file.rows(rows)):
        yield Shard(number, first, chunk.entries, file.text)
        first += len(chunk.entries)


def embed_shard(
    model: GraphAutoencoder, shard: Shard, folder: Path, config: EmbedConfig
) -> ShardReport:
    """Parse, encode and write one shard."""
    began = time.perf_counter()
    items = read_rows(shard.entries, shard.text, model.space)
    _failed_rows(shard, items, config)
    parsed = time.perf_counter()
    graphs = [item for item in items if isinstance(item, Graph)]
    latents = np.empty((0, model.latent_dim), dtype=np.float32)
    if graphs:
        latents = model.encode(
            graphs, batch_size=config.batch_size, on_error="null", refine=config.refine
        )
    wants_latents, wants_descriptions = READINGS[config.what]
    items = without_bad_vectors(items, latents)
    latents = latents[are_finite(latents)]
    vectors = {"embedding": latents} if wants_latents else {}
    if wants_descriptions:
        vectors["description"] = model.describe(latents, batch_size=config.batch_size)
    encoded = time.perf_counter()
    failed = _failed_rows(shard, items, config)
    table = _table(shard, items, vectors, config)
    counts = {"rows": str(len(items)), "failed": str(len(failed))}
    part = shard.part(folder)
    _checksum_of(part).unlink(missing_ok=True)
    write_table(table.replace_schema_metadata(counts), part)
    write_whole(_checksum_of(part), sha256_of(part))
    return ShardReport(len(items), len(failed), parsed - began, encoded - parsed)


def _failed_rows(shard: Shard, items: list[Graph | str], config: EmbedConfig) -> list[int]:
    """Places of the rows that have a reason instead of a graph; raise for the first if asked to."""
    failed = [place for place, item in enumerate(items) if isinstance(item, str)]
    if failed and config.on_error == "raise":
        place = failed[0]
        raise ValueError(
            f"row {shard.first_row + place} ({str(shard.entries[place])[:60]!r}): {items[place]}; "
            "use --on-error null or skip to continue"
        )
    return failed


def _checksum_of(part: Path) -> Path:
    """Path of the checksum of a part; readers of parquet folders ignore such names."""
    return part.with_name(f"_{part.stem}.sha256")


def _table(
    shard: Shard,
    items: list[Graph | str],
    vectors: dict[str, NDArray[np.float32]],
    config: EmbedConfig,
) -> pa.Table:
    """Columns row, entry, vectors, status and reason of one shard."""
    is_ok = np.array([isinstance(item, Graph) for item in items], dtype=bool)
    table = pa.table(
        {
            "row": pa.array(np.arange(len(items)) + shard.first_row, pa.int64()),
            shard.text: pa.array(shard.entries, pa.string()),
            **{name: _column(rows, is_ok) for name, rows in vectors.items()},
            "status": pa.array(["ok" if ok else "failed" for ok in is_ok], pa.string()),
            "reason": pa.array([i if isinstance(i, str) else None for i in items], pa.string()),
        }
    )
    return table.filter(pa.array(is_ok)) if config.on_error == "skip" else table


def _column(rows: NDArray[np.float32], is_ok: NDArray[np.bool_]) -> pa.FixedSizeListArray:
    """Vectors of the rows that are ok; null for the others."""
    wide = np.zeros((len(is_ok), rows.shape[1]), dtype=np.float32)
    wide[is_ok] = rows
    return pa.FixedSizeListArray.from_arrays(
        pa.array(wide.reshape(-1)), rows.shape[1], mask=pa.array(~is_ok)
    )


def start_or_resume(
    out: Path, file: Molecules, model: GraphAutoencoder, model_name: str, config: EmbedConfig
) -> Path:
    """Make the folder of parts, or find one started for the same job with the same weights."""
    if not is_molecular(model.space):
        raise ValueError(f"{model_name} was not trained on molecules")
    check_output(file.path, out)
    folder = out.with_name(out.name + ".parts") if is_parquet(out) else out
    plan = {
        "file": file.name(),
        "model": model_name,
        "weights": fingerprint(model),
        "on_error": config.on_error,
        "shard_rows": config.shard_rows,
        "batch_size": config.batch_size,
        "refine": config.refine,
        "what": config.what,
    }
    if any(folder.glob("part-*.parquet")):
        _check_same_job(folder, plan)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PLAN, json.dumps(plan, indent=2).encode())
    return folder


def _read_plan(folder: Path) -> dict[str, Any]:
    """Read which job the parts of a folder belong to."""
    advice = "remove the folder or choose another output"
    try:
        plan = read_json(folder / PLAN)
    except ValueError as error:
        raise ValueError(f"{error}; {advice}") from error
    if not isinstance(plan, dict):
        raise ValueError(f"{folder / PLAN} is not the plan of a run; {advice}")
    return plan


def _check_same_job(folder: Path, plan: dict[str, Any]) -> None:
    """Raise unless the parts of a folder were made for this job."""
    if not (folder / PLAN).is_file():
        raise ValueError(
            f"{folder} holds parts of unknown origin (no {PLAN}); remove it or choose another"
        )
    begun = _read_plan(folder)
    if begun.get("on_error") == "raise":  # no row of these parts failed: any other choice fits
        begun["on_error"] = plan["on_error"]
    changed = [name for name in plan if name != "model" and begun.get(name) != plan[name]]
    if changed:
        name = changed[0]
        raise ValueError(
            f"{folder} holds parts of another run: its {name} was {begun.get(name)!r}, now it is "
            f"{plan[name]!r}; remove the folder or choose another output"
        )


def finished(part: Path) -> ShardReport | None:
    """Report of a shard that is done already; None if it must be done again."""
    if not part.is_file() or not _checksum_of(part).is_file():
        return None
    if sha256_of(part) != _checksum_of(part).read_text(encoding="ascii", errors="replace"):
        logger.warning("%s is damaged: its checksum differs; its rows are embedded again", part)
        return None
    try:
        metadata = pq.read_schema(part).metadata or {}
        return ShardReport(int(metadata[b"rows"]), int(metadata[b"failed"]))
    except (FileNotFoundError, pa.ArrowInvalid, KeyError):
        return None


def embed_file(
    model: GraphAutoencoder,
    model_name: str,
    file: Molecules,
    out: Path,
    config: EmbedConfig,
    progress: Callable[[ShardReport], object] | None = None,
) -> int:
    """Embed all rows of a file; return how many rows were done by an earlier run."""
    with locked(out):
        folder = start_or_resume(out, file, model, model_name, config)
        with tidied(folder):
            skipped = 0
            for shard in shards_of(file, config.shard_rows):
                report = finished(shard.part(folder))
                skipped += report.rows if report else 0
                report = report or embed_shard(model, shard, folder, config)
                if progress is not None:
                    progress(report)
            finish(folder, out, file.path)
    return skipped


@contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Leave nothing behind of a run that fails before its first part is done."""
    try:
        yield
    except Exception:
        if not any(folder.glob("part-*.parquet")):
            for file in (*folder.glob("staged-*.parquet"), folder / PLAN):
                file.unlink(missing_ok=True)
            _remove_if_empty(folder)
        raise


def finish(folder: Path, out: Path, source: Path) -> None:
    """Join the parts into one file, one part at a time, unless the output is a folder."""
    parts = sorted(folder.glob("part-*.parquet"))
    if not parts:
        raise ValueError(f"{source} holds no rows")
    for staged in folder.glob("staged-*.parquet"):  # of an interrupted run on Ray
        staged.unlink()
    if folder == out:
        return
    with written_whole(out, pq.read_schema(parts[0]).remove_metadata()) as writer:
        for part in parts:
            if finished(part) is None:
                raise ValueError(f"{part} was damaged during the run; start again")
            writer.write_table(pq.read_table(part).replace_schema_metadata())
    for part in parts:  # the plan goes last, so that a killed run starts again
        _checksum_of(part).unlink()
        part.unlink()
    (folder / PLAN).unlink()
    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    """Remove a folder, unless it holds files of the user."""
    if not any(folder.iterdir()):
        folder.rmdir()
