"""Files that a task writes: never over its input, and complete or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grale.files import whole

OTHER_FORMATS = (".csv", ".tsv", ".smi", ".sdf", ".gz", ".json", ".txt", ".pq", ".npy")


def is_parquet(path: Path) -> bool:
    """Whether a name asks for one parquet file."""
    return path.suffix.lower() == ".parquet"


def check_output(source: Path, out: Path) -> None:
    """Raise, before any work is done, if `out` would destroy the input or is not parquet."""
    ours, theirs = out.resolve(), source.resolve()
    if ours == theirs or theirs in ours.parents:
        raise ValueError(f"{out} would be written over or into its own input {source}")
    if out.suffix.lower() in OTHER_FORMATS:
        raise ValueError(f"{out}: the result is parquet; choose a name that ends in .parquet")
    if is_parquet(out) and out.is_dir():
        raise ValueError(f"{out} is a folder; remove it or choose another name")


@contextmanager
def written_whole(out: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a parquet file that appears when it is complete; a failure leaves nothing behind."""
    with whole(out) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as writer:
        yield writer
