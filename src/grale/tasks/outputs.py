"""Files that a task writes: never over its input, and complete or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grale.files import whole

OTHER_FORMATS = (".csv", ".tsv", ".smi", ".sdf", ".gz", ".json", ".txt", ".pq", ".npy")


def check_output(source: Path, out: Path, suffixes: Sequence[str] = (".parquet",)) -> None:
    """Raise, before any work is done, if `out` would destroy the input or has another format."""
    ours, theirs = out.resolve(), source.resolve()
    if ours == theirs or theirs in ours.parents:
        raise ValueError(f"{out} would be written over or into its own input {source}")
    suffix = out.suffix.lower()
    if suffix in OTHER_FORMATS and suffix not in suffixes:
        kinds = " or ".join(each.lstrip(".") for each in suffixes)
        names = " or ".join(suffixes)
        raise ValueError(f"{out}: the result is {kinds}; choose a name that ends in {names}")
    if suffix in suffixes and out.is_dir():
        raise ValueError(f"{out} is a folder; remove it or choose another name")


@contextmanager
def written_whole(out: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a parquet file that appears when it is complete; a failure leaves nothing behind."""
    with whole(out) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as writer:
        yield writer
