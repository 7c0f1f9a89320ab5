"""POOL: 4.6 million public molecules in parquet shards by size, with a fixed split.

It stands in for PUBCHEM 16 and 32, which are not at hand everywhere. Molecules of the labelled
benchmarks are left out, so that probes on those are strict.

Departures: results on POOL are never called PUBCHEM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from grale.data.molecule_files import Chunk, Text

COLUMNS = ("smiles", "n_atoms", "bench", "source", "split")


@dataclass(frozen=True)
class PoolShard:
    """One file of the pool, cut to molecules of at most `max_atoms`."""

    path: Path
    max_atoms: int
    text: Text = "smiles"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        return f"{self.path.resolve()} {self.path.stat().st_size} {self.max_atoms}"

    def rows(self, size: int) -> Iterator[Chunk]:
        """Molecules small enough and of no benchmark, `size` rows of the file at a time."""
        parquet = pq.ParquetFile(self.path)
        for batch in parquet.iter_batches(batch_size=size, columns=list(COLUMNS)):
            of_benchmark = pc.or_(batch["bench"], pc.equal(batch["source"], "qm9"))
            is_small = pc.less_equal(batch["n_atoms"], self.max_atoms)
            kept = batch.filter(pc.and_not(is_small, of_benchmark))
            if kept.num_rows:
                yield Chunk(kept["smiles"].to_pylist(), kept["split"].to_pylist())


def open_pool(folder: Path, max_atoms: int) -> list[PoolShard]:
    """All files of the pool that hold molecules of at most `max_atoms`."""
    paths = sorted(folder.glob("pool-*.parquet"))
    if not paths:
        raise FileNotFoundError(f"{folder} holds no pool-*.parquet")
    for path in paths:
        missing = set(COLUMNS) - set(pq.read_schema(path).names)
        if missing:
            raise ValueError(f"{path} lacks the columns {sorted(missing)}")
    return [PoolShard(path, max_atoms) for path in paths if _smallest(path) <= max_atoms]


def _smallest(path: Path) -> int:
    metadata = pq.ParquetFile(path).metadata
    place = metadata.schema.names.index("n_atoms")
    groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
    statistics = [group.column(place).statistics for group in groups]
    return min((entry.min for entry in statistics if entry is not None), default=0)
