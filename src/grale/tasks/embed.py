"""Embed a file of any length: one row in, one row out, with a status.

The file is cut into shards of rows. Each shard is parsed, encoded in batches of similar size and
written to a part file (`embed_parts.py`). At the end, the parts are joined into one file
(`vector_output.py`), or stay a folder of parts. What the input holds beside the molecules stays
beside them.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.codec.encode import encode
from grale.codec.failures import are_finite, without_bad_vectors
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import provenance
from grale.codec.intake import device_of
from grale.codec.options import CodecOptions
from grale.data.molecules.columns import Survey, unique_names
from grale.data.molecules.files import Text
from grale.data.molecules.records import ADDED
from grale.data.row_files import RowFile
from grale.files import locked
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.embed_parts import ShardReport, begin, finished, tidied, write_part
from grale.tasks.outputs import check_output
from grale.tasks.rows import Desalted, read_desalted, read_rows
from grale.tasks.vector_columns import vector_column, vector_field
from grale.tasks.vector_output import SUFFIXES, finish, is_one_file, metadata_of

READINGS = {"latent": (True, False), "description": (False, True), "both": (True, True)}
"""Which of the columns `embedding` and `description` are written."""
MOST_REASONS = 100  # kinds of reasons that a shard reports
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_NUMBERED = re.compile(r"(embedding|description)_\d+")  # columns of vectors in a csv

Advance = Callable[[int], object]


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
    desalt: bool = False
    """Whether to embed only the largest organic part of each molecule."""

    def __post_init__(self) -> None:
        if self.on_error not in ("null", "skip", "raise"):
            raise ValueError(f"on_error={self.on_error!r}; expected 'null', 'skip' or 'raise'")
        if self.what not in READINGS:
            raise ValueError(f"what={self.what!r}; expected one of {', '.join(READINGS)}")
        if self.shard_rows < 1 or self.batch_size < 1:
            raise ValueError("shard_rows and batch_size must be at least 1")
        self.options()  # says so if refine is negative

    def options(self) -> CodecOptions:
        """The part of it that the model needs."""
        return CodecOptions(batch_size=self.batch_size, refine_steps=self.refine)


@dataclass(frozen=True)
class Shard:
    """Consecutive rows of the file."""

    number: int
    first_row: int
    entries: list[str | None]
    text: Text
    others: Mapping[str, pa.Array]
    """The columns beside the entries."""

    def part(self, folder: Path) -> Path:
        """Where its embeddings go."""
        return folder / f"part-{self.number:06d}.parquet"


def shards_of(file: RowFile, rows: int, survey: Survey | None = None) -> Iterator[Shard]:
    """Cut a file into shards, reading it as a stream."""
    first = 0
    columns = survey.columns if survey is not None else file.survey().columns
    for number, chunk in enumerate(file.rows(rows, columns)):
        yield Shard(number, first, chunk.entries, file.text, chunk.others)
        first += len(chunk.entries)


def embed_shard(
    model: GraphAutoencoder,
    shard: Shard,
    folder: Path,
    config: EmbedConfig,
    made_with: Mapping[str, str | None],
    advance: Advance | None = None,
) -> ShardReport:
    """Parse, encode and write one shard."""
    began = time.perf_counter()
    read = _read(shard, model, config)
    failed = _failed_rows(shard, read.items, config)
    if advance is not None:
        advance(len(failed))
    parsed = time.perf_counter()
    graphs = [item for item in read.items if isinstance(item, Graph)]
    latents = np.empty((0, model.latent_dim), dtype=np.float32)
    if graphs:
        latents = encode(model, graphs, config.options(), "null", advance)
    wants_latents, wants_descriptions = READINGS[config.what]
    items = without_bad_vectors(read.items, latents)
    latents = latents[are_finite(latents)]
    vectors = {"embedding": latents} if wants_latents else {}
    if wants_descriptions:
        vectors["description"] = model.describe(latents, batch_size=config.batch_size)
    encoded = time.perf_counter()
    failed = _failed_rows(shard, items, config)
    reasons = Counter(kind_of_reason(str(items[place])) for place in failed)
    report = ShardReport(
        len(items),
        len(failed),
        parsed - began,
        encoded - parsed,
        Counter(dict(reasons.most_common(MOST_REASONS))),
    )
    table = _table(shard, Desalted(items, read.kept), vectors, config)
    write_part(table, shard.part(folder), report, metadata_of(made_with))
    return report


def _read(shard: Shard, model: GraphAutoencoder, config: EmbedConfig) -> Desalted:
    if config.desalt:
        return read_desalted(shard.entries, shard.text, model.space)
    items = read_rows(shard.entries, shard.text, model.space)
    return Desalted(items, [None] * len(items))


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


def kind_of_reason(reason: str) -> str:
    """A reason without what differs from row to row.

    >>> kind_of_reason("cannot parse 'xyz': 3 letters")
    'cannot parse ...: ... letters'
    """
    return _VARIABLE.sub("...", reason)


def _table(
    shard: Shard, read: Desalted, vectors: dict[str, NDArray[np.float32]], config: EmbedConfig
) -> pa.Table:
    """Columns row, entry, those of the input, vectors, status and reason of one shard."""
    is_ok = np.array([isinstance(item, Graph) for item in read.items], dtype=bool)
    names = [f"input_{n}" if _NUMBERED.fullmatch(n) else n for n in shard.others]
    names = unique_names(names, taken=(*ADDED, shard.text))
    kept = {"desalted": pa.array(read.kept, pa.string())} if config.desalt else {}
    columns: dict[str, Any] = {
        "row": pa.array(np.arange(len(read.items)) + shard.first_row, pa.int64()),
        shard.text: pa.array(shard.entries, pa.string()),
        **dict(zip(names, shard.others.values())),
        **kept,
        **{name: vector_column(rows, is_ok) for name, rows in vectors.items()},
        "status": pa.array(["ok" if ok else "failed" for ok in is_ok], pa.string()),
        "reason": pa.array([i if isinstance(i, str) else None for i in read.items], pa.string()),
    }
    fields = [
        vector_field(name, vectors[name].shape[1]) if name in vectors else (name, column.type)
        for name, column in columns.items()
    ]
    table = pa.table(columns, pa.schema(fields))
    return table.filter(pa.array(is_ok)) if config.on_error == "skip" else table


def start_or_resume(
    out: Path,
    file: RowFile,
    model: GraphAutoencoder,
    made_with: Mapping[str, str | None],
    config: EmbedConfig,
) -> Path:
    """Make the folder of parts, or find one started for the same job with the same weights."""
    if is_molecular(model.space) != (file.text != "graph"):
        what = "graphs" if is_molecular(model.space) else "molecules"
        raise ValueError(f"{made_with['model']} was not trained on {what}")
    if out.suffix.lower() == ".npy" and config.what == "both":
        raise ValueError(f"{out}: a .npy holds one kind of vectors; ask for one, or for .parquet")
    check_output(file.path, out, SUFFIXES)
    folder = out.with_name(out.name + ".parts") if is_one_file(out) else out
    plan = {
        "file": file.name(),
        "model": made_with["model"],
        "weights": made_with["fingerprint"],
        "grale": made_with["grale"],
        "device": device_of(model).type,
        "on_error": config.on_error,
        "shard_rows": config.shard_rows,
        "batch_size": config.batch_size,
        "refine": config.refine,
        "what": config.what,
        "desalt": config.desalt,
    }
    begin(folder, plan)
    return folder


def embed_file(
    model: GraphAutoencoder,
    model_name: str,
    file: RowFile,
    out: Path,
    config: EmbedConfig,
    progress: Callable[[ShardReport], object] | None = None,
    advance: Advance | None = None,
    survey: Survey | None = None,
) -> int:
    """Embed all rows of a file; return how many rows were done by an earlier run.

    `progress` gets a report for each shard, `advance` the number of rows after each batch, of rows
    that this run embeds. `survey` is what `file.survey` returns, if it is known already.
    """
    made_with = provenance(model, model_name, config.what)
    with locked(out):
        folder = start_or_resume(out, file, model, made_with, config)
        with tidied(folder):
            skipped = 0
            for shard in shards_of(file, config.shard_rows, survey):
                report = finished(shard.part(folder))
                skipped += report.rows if report else 0
                report = report or embed_shard(model, shard, folder, config, made_with, advance)
                if progress is not None:
                    progress(report)
            finish(folder, out, file.path)
    return skipped
