"""First pass of a preparation: one chunk of rows to one part file of graphs and their keys."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grale.data.molecules.files import Chunk, Text, parse, read_molecule
from grale.data.packed import PackedGraphs
from grale.data.storage import to_table, write_table
from grale.files import sha256_of, write_whole
from grale.graphs.graph import Graph
from grale.graphs.molecules.descriptors import training_descriptors, training_names
from grale.graphs.molecules.molecule import canonical_key

logger = logging.getLogger(__name__)

SPLITS = ("train", "valid", "test")
REJECTED = pa.schema([("row", pa.int64()), ("entry", pa.string()), ("reason", pa.string())])
SHOWN = 200  # characters of a rejected entry that are kept
GROUP_ROWS = 1_024  # small, so that a slice of the keys can be read without the rest
KEY_RANGE = 1 << 16
"""Number of key prefixes; the second pass reads the parts in slices of this range."""


@dataclass(frozen=True, kw_only=True)
class PrepareConfig:
    """Which molecules to keep, and how to split them."""

    max_atoms: int = 16
    """Molecules with more heavy atoms are left out."""
    valid_share: float = 0.01
    test_share: float = 0.01
    """Shares of the graphs held out; chosen by hash, so that other rows do not matter."""
    shard_rows: int = 65_536
    num_workers: int = 1
    descriptors: bool = False
    """Whether to store RDKit's descriptors of each molecule, targets of the description."""

    def __post_init__(self) -> None:
        if self.max_atoms < 1 or self.shard_rows < 1 or self.num_workers < 1:
            raise ValueError("max_atoms, shard_rows and num_workers must be at least 1")
        if min(self.valid_share, self.test_share) < 0 or self.valid_share + self.test_share >= 1:
            raise ValueError("valid_share and test_share must be at least 0 and sum to less than 1")


def parse_part(
    part: Path, start: int, text: Text, chunk: Chunk, config: PrepareConfig
) -> tuple[int, int]:
    """Parse one chunk and write its part; return its rows and its rejected rows."""
    graphs: list[Graph] = []
    properties = []
    keys, splits, kept = [], [], []
    rejected: list[dict[str, Any]] = []
    for place, entry in enumerate(chunk.entries):
        graph = parse(entry, text)
        if isinstance(graph, Graph) and graph.num_nodes > config.max_atoms:
            graph = f"has {graph.num_nodes} heavy atoms, more than {config.max_atoms}"
        if isinstance(graph, str):
            shown = entry[:SHOWN] if entry else entry
            rejected.append({"row": start + place, "entry": shown, "reason": graph})
            continue
        key = _hash(canonical_key(graph))
        graphs.append(graph)
        if config.descriptors:
            assert entry is not None  # an empty row is rejected
            properties.append(training_descriptors(read_molecule(entry, text)))
        keys.append(key)
        kept.append(start + place)
        splits.append(chunk.splits[place] if chunk.splits else _split_of(key, config))
    write_table(pa.Table.from_pylist(rejected, REJECTED), rejected_of(part))
    known = None
    if config.descriptors:
        known = np.array(properties, dtype=np.float32).reshape(-1, len(training_names()))
    write_table(_part_table(graphs, keys, splits, kept, known), part, GROUP_ROWS)
    write_whole(_checksum_of(part), _checksums(part))
    return len(chunk.entries), len(rejected)


def is_finished(part: Path) -> bool:
    """Whether a part was written by an earlier run, and is still what it wrote."""
    if not part.is_file() or not _checksum_of(part).is_file():
        return False
    if _checksum_of(part).read_bytes().decode("latin-1") == _checksums(part):
        return True
    logger.warning("%s is damaged: its checksum differs; its rows are read again", part)
    return False


def rejected_of(part: Path) -> Path:
    """Where the rows of a part that were left out are kept."""
    return part.with_suffix(".rejected")


def _checksum_of(part: Path) -> Path:
    return part.with_suffix(".sha256")


def _checksums(part: Path) -> str:
    """Of the graphs, and of the rows that were left out."""
    both = (part, rejected_of(part))
    return " ".join(sha256_of(path) if path.is_file() else "missing" for path in both)


def _part_table(
    graphs: list[Graph],
    keys: list[int],
    splits: list[str],
    rows: list[int],
    properties: NDArray[np.float32] | None = None,
) -> pa.Table:
    """Columns of each graph with its key, split and row, sorted by key."""
    order = np.argsort(np.array(keys, dtype=np.uint64), kind="stable")
    if len(graphs) == 0:
        blank = None if properties is None else np.zeros((1, properties.shape[1]), np.float32)
        packed = to_table(PackedGraphs.from_graphs([Graph([0])], blank)).slice(0, 0)
    else:
        known = None if properties is None else properties[order]
        packed = to_table(PackedGraphs.from_graphs([graphs[i] for i in order], known))
    values = np.array(keys, dtype=np.uint64)[order]
    packed = packed.append_column("key", pa.array(values, pa.uint64()))
    prefix = (values >> np.uint64(48)).astype(np.int32)
    packed = packed.append_column("prefix", pa.array(prefix, pa.int32()))
    packed = packed.append_column("split", pa.array([splits[i] for i in order], pa.string()))
    return packed.append_column("row", pa.array([rows[i] for i in order], pa.int64()))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def _split_of(key: int, config: PrepareConfig) -> str:
    share = (key & 0xFFFFFFFF) / 2**32  # the low half: the high half orders the shards
    if share < config.valid_share:
        return "valid"
    return "test" if share < config.valid_share + config.test_share else "train"
