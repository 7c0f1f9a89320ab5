"""Embed a file of molecules, however long: one row in, one row out, with a status.

The file is cut into shards of rows. Each shard is parsed, encoded in batches of similar size and
written to a part file that appears only when it is complete; a killed run finds the finished parts
and goes on. At the end the parts become one parquet file, or stay a folder of parts.

Departures: not in the paper.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grale.data.molecule_files import Text, parse_for
from grale.data.molecule_folder import Molecules
from grale.data.storage import write_atomically
from grale.graphs.graph import Graph
from grale.graphs.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.model.refined_encoding import check_refine
from grale.model.storage import fingerprint
from grale.plot.files import write_whole
from grale.tasks.outputs import check_output, is_parquet, written_whole

PLAN = "_plan.json"  # readers of parquet folders pass over such names


@dataclass(frozen=True, kw_only=True)
class EmbedConfig:
    """How to cut the work, and what to do with rows that cannot be embedded."""

    on_error: Literal["null", "skip", "raise"] = "null"
    """A failed row has no embedding but a reason, or is left out, or stops the run."""
    shard_rows: int = 20_000
    """Rows parsed and encoded together; what a kill may lose."""
    batch_size: int = 256
    refine: int = 0
    """As in `GraphAutoencoder.encode`."""

    def __post_init__(self) -> None:
        if self.on_error not in ("null", "skip", "raise"):
            raise ValueError(f"on_error={self.on_error!r}; expected 'null', 'skip' or 'raise'")
        if self.shard_rows < 1 or self.batch_size < 1:
            raise ValueError("shard_rows and batch_size must be at least 1")
        check_refine(self.refine)


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


def embed_shard(model: GRALE, shard: Shard, folder: Path, config: EmbedConfig) -> ShardReport:
    """Parse, encode and write one shard."""
    began = time.perf_counter()
    items = [parse_for(model.space, entry, shard.text) for entry in shard.entries]
    failed = [place for place, item in enumerate(items) if isinstance(item, str)]
    if failed and config.on_error == "raise":
        place = failed[0]
        raise ValueError(
            f"row {shard.first_row + place} ({str(shard.entries[place])[:60]!r}): {items[place]}; "
            "use --on-error null or skip to go on"
        )
    parsed = time.perf_counter()
    graphs = [item for item in items if isinstance(item, Graph)]
    latents = np.empty((0, model.latent_dim), dtype=np.float32)
    if graphs:
        latents = model.encode(graphs, batch_size=config.batch_size, refine=config.refine)
    encoded = time.perf_counter()
    table = _table(shard, items, latents, config)
    counts = {"rows": str(len(items)), "failed": str(len(failed))}
    write_atomically(table.replace_schema_metadata(counts), shard.part(folder))
    return ShardReport(len(items), len(failed), parsed - began, encoded - parsed)


def _table(shard: Shard, items: list[Graph | str], latents: Any, config: EmbedConfig) -> pa.Table:
    """Columns row, entry, embedding, status and reason of one shard."""
    is_ok = np.array([isinstance(item, Graph) for item in items], dtype=bool)
    wide = np.zeros((len(items), latents.shape[1]), dtype=np.float32)
    wide[is_ok] = latents
    embedding = pa.FixedSizeListArray.from_arrays(
        pa.array(wide.reshape(-1)), latents.shape[1], mask=pa.array(~is_ok)
    )
    table = pa.table(
        {
            "row": pa.array(np.arange(len(items)) + shard.first_row, pa.int64()),
            shard.text: pa.array(shard.entries, pa.string()),
            "embedding": embedding,
            "status": pa.array(["ok" if ok else "failed" for ok in is_ok], pa.string()),
            "reason": pa.array([i if isinstance(i, str) else None for i in items], pa.string()),
        }
    )
    return table.filter(pa.array(is_ok)) if config.on_error == "skip" else table


def start_or_resume(
    out: Path, file: Molecules, model: GRALE, model_name: str, config: EmbedConfig
) -> Path:
    """Make the folder of parts, or find one begun for the same job with the same weights."""
    if not is_molecular(model.space):
        raise ValueError(f"{model_name} is no model of molecules: its labels are no atoms")
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
    }
    if any(folder.glob("part-*.parquet")):
        _check_same_job(folder, plan)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PLAN, json.dumps(plan, indent=2).encode())
    return folder


def _check_same_job(folder: Path, plan: dict[str, Any]) -> None:
    """Raise unless the parts of a folder were made for this job."""
    if not (folder / PLAN).is_file():
        raise ValueError(
            f"{folder} holds parts of unknown origin (no {PLAN}); remove it or choose another"
        )
    begun = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    if begun.get("on_error") == "raise":  # no row of these parts failed: they fit any other choice
        begun["on_error"] = plan["on_error"]
    if begun != plan:
        raise ValueError(f"{folder} holds parts of another file, model or setting; remove it first")


def finished(part: Path) -> ShardReport | None:
    """Tell what is in the part of a shard that was done before; None if it is not whole."""
    try:
        metadata = pq.read_schema(part).metadata or {}
        return ShardReport(int(metadata[b"rows"]), int(metadata[b"failed"]))
    except (FileNotFoundError, pa.ArrowInvalid, KeyError):
        return None


def embed_file(
    model: GRALE,
    model_name: str,
    file: Molecules,
    out: Path,
    config: EmbedConfig,
    progress: Callable[[ShardReport], object] | None = None,
) -> int:
    """Embed all rows of a file; return how many rows were done before and are not done again."""
    folder = start_or_resume(out, file, model, model_name, config)
    skipped = 0
    for shard in shards_of(file, config.shard_rows):
        report = finished(shard.part(folder))
        skipped += report.rows if report else 0
        report = report or embed_shard(model, shard, folder, config)
        if progress is not None:
            progress(report)
    finish(folder, out, file.path)
    return skipped


def finish(folder: Path, out: Path, source: Path) -> None:
    """Join the parts into one file, a part at a time, unless a folder was asked for."""
    parts = sorted(folder.glob("part-*.parquet"))
    if not parts:
        (folder / PLAN).unlink(missing_ok=True)
        if not any(folder.iterdir()):  # a folder of the user's may hold other things
            folder.rmdir()
        raise ValueError(f"{source} holds no rows")
    for staged in folder.glob("staged-*.parquet"):  # of a run on Ray that was cut
        staged.unlink()
    if folder == out:
        return
    with written_whole(out, pq.read_schema(parts[0]).remove_metadata()) as writer:
        for part in parts:
            writer.write_table(pq.read_table(part).replace_schema_metadata())
    for part in parts:  # the plan goes last: what a kill leaves is begun again
        part.unlink()
    shutil.rmtree(folder)
