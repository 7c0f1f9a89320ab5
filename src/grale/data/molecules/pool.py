"""POOL: 4.6 million public molecules in parquet shards by size, with a fixed split.

It replaces PUBCHEM 16 and 32, which are not available everywhere. Molecules of the labelled
benchmarks are left out, so that tests on those are fair. But all molecules of at most four atoms
are kept, since a model of molecules must know water, and `TinyMolecules` adds every pair of
elements. A `share` thins out the training molecules, except tiny ones and those with rare elements;
the held-out splits stay whole.

Departures: results on POOL are never called PUBCHEM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grale.data.molecules.files import Chunk, Text
from grale.graphs.molecules.molecule import ELEMENTS

COLUMNS = ("smiles", "n_atoms", "common", "bench", "source", "split")
TINY_ATOMS = 4


@dataclass(frozen=True)
class PoolShard:
    """One file of the pool, cut to molecules of at most `max_atoms`."""

    path: Path
    max_atoms: int
    share: float = 1.0
    text: Text = "smiles"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        return f"{self.path.resolve()} {self.path.stat().st_size} {self.max_atoms} {self.share}"

    def rows(self, size: int) -> Iterator[Chunk]:
        """Molecules that are small enough and in no benchmark, from `size` rows at a time."""
        parquet = pq.ParquetFile(self.path)
        for batch in parquet.iter_batches(batch_size=size, columns=list(COLUMNS)):
            of_benchmark = pc.or_(batch["bench"], pc.equal(batch["source"], "qm9"))
            is_small = pc.less_equal(batch["n_atoms"], self.max_atoms)
            is_tiny = pc.less_equal(batch["n_atoms"], TINY_ATOMS)
            is_wanted = pc.and_(is_small, pc.or_(is_tiny, pc.invert(of_benchmark)))
            kept = batch.filter(pc.and_(is_wanted, self._is_drawn(batch, is_tiny)))
            if kept.num_rows:
                yield Chunk(kept["smiles"].to_pylist(), kept["split"].to_pylist())

    def _is_drawn(self, batch: pa.RecordBatch, is_tiny: pa.BooleanArray) -> pa.BooleanArray:
        """Whether each row is in the share of the molecules that is kept."""
        if self.share >= 1:
            return pa.array(np.ones(len(batch), dtype=bool))
        texts = batch["smiles"].to_pylist()
        drawn = pa.array([crc32(text.encode()) < self.share * 2**32 for text in texts], pa.bool_())
        is_rare = pc.invert(batch["common"])
        is_held_out = pc.not_equal(batch["split"], "train")
        return pc.or_(pc.or_(drawn, is_rare), pc.or_(is_tiny, is_held_out))


@dataclass(frozen=True)
class TinyMolecules:
    """All atoms, and all pairs of atoms with each bond or none: salts, HCl, N2."""

    text: Text = "smiles"

    def name(self) -> str:
        """What a resumed run must find unchanged."""
        return f"tiny molecules of {len(ELEMENTS)} elements"

    def rows(self, size: int) -> Iterator[Chunk]:
        """All of them at once, a few thousand; those that RDKit rejects are rejected rows."""
        atoms = [f"[{element}]" for element in ELEMENTS]
        pairs = combinations_with_replacement(atoms, 2)
        joined = [f"{a}{bond}{b}" for a, b in pairs for bond in ("", "=", "#", ".")]
        texts: list[str | None] = [*atoms, *joined]
        yield Chunk(texts, ["train"] * len(texts))


def open_pool(folder: Path, max_atoms: int, share: float = 1.0) -> list[PoolShard | TinyMolecules]:
    """All files of the pool that hold molecules of at most `max_atoms`, and the tiny molecules."""
    paths = sorted(folder.glob("pool-*.parquet"))
    if not paths:
        raise FileNotFoundError(f"{folder} holds no pool-*.parquet")
    for path in paths:
        missing = set(COLUMNS) - set(pq.read_schema(path).names)
        if missing:
            raise ValueError(f"{path} lacks the columns {sorted(missing)}")
    shards = [PoolShard(path, max_atoms, share) for path in paths if _smallest(path) <= max_atoms]
    return [*shards, TinyMolecules()]


def _smallest(path: Path) -> int:
    metadata = pq.ParquetFile(path).metadata
    place = metadata.schema.names.index("n_atoms")
    groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
    statistics = [group.column(place).statistics for group in groups]
    return min((entry.min for entry in statistics if entry is not None), default=0)
