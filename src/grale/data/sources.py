"""Where training graphs come from: an endless stream of pools, and held-out graphs.

A pool is the set of graphs that are shuffled together in memory: a whole generated training set,
a fresh stretch of generated graphs, or a few shards of a dataset on disk.

Departures: the paper draws 300,000 COLORING graphs once; `num_graphs: null` never repeats one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from grale.data.augment import AugmentConfig, augmented
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.packed import PackedGraphs
from grale.data.storage import (
    BadShardError,
    Properties,
    Shard,
    check_shard,
    read_manifest,
    read_shard,
)
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.inputs.space import InputSpace
from grale.settings.build import build

POOL_GRAPHS = 16_384
NUM_COLOURS = 4
HELD_OUT_SEED = 1_000_003  # no training seed: same distribution, never trained on
STRETCH = 4_096  # held-out graphs of a stream made at once
FIRST_HELD_OUT = {"valid": 0, "test": 1_000_000, "train": 2_000_000}
"""First held-out graph of each split of a generator. Runs are validated and tuned on valid; train
is for models fitted to embeddings, not for the autoencoder."""
SHARD_STREAM = 1  # keeps the order of shards apart from the order of graphs
AUGMENT_STREAM = 2  # and changes of graphs apart from both

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """What to train on."""

    source: Literal["coloring10", "coloring15", "coloring20", "shards"] = "coloring20"
    """A generator, or a dataset on disk."""
    num_graphs: int | None = 300_000
    """Size of a generated training set; null to draw fresh graphs forever."""
    seed: int = 0
    """Chooses the generated training graphs."""
    num_workers: int = 0
    """Processes that generate graphs; changes the time only."""
    path: str | None = None
    """Folder of the dataset, for source "shards"; it holds `train` and `valid`."""
    max_graphs: int | None = None
    """Train on only this many graphs, the first of the dataset; null for all of them."""
    size_power: float = 0.0
    """Within a pool, graphs of n nodes are drawn n^size_power times as often as those of one node,
    with replacement; 0 for every graph once per pass."""
    balanced_share: float = 0.0
    """Share of the draws that favour small and rare graphs: half of it goes to all sizes equally,
    half to all node labels equally."""
    shards_per_pool: int = 4
    """How many shards are shuffled together in memory."""
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    """Changed copies of the graphs of a dataset on disk."""
    on_bad_shard: Literal["fail", "skip"] = "fail"
    """Whether a damaged shard stops the run or is left out; it is named in both cases."""

    def __post_init__(self) -> None:
        if self.num_graphs is not None and self.num_graphs < 1:
            raise ValueError(f"num_graphs must be at least 1 or null, got {self.num_graphs}")
        if not 0 <= self.seed < HELD_OUT_SEED:
            raise ValueError(f"seed must be in [0, {HELD_OUT_SEED}), got {self.seed}")
        if self.max_graphs is not None and self.max_graphs < 1:
            raise ValueError(f"max_graphs must be at least 1 or null, got {self.max_graphs}")
        if self.max_graphs is not None and self.source != "shards":
            raise ValueError(f"max_graphs needs source=shards; use num_graphs for {self.source}")
        if not -100 <= self.size_power <= 100:
            raise ValueError(f"size_power must be between -100 and 100, got {self.size_power}")
        if not 0 <= self.balanced_share <= 1:
            raise ValueError(f"balanced_share must be in [0, 1], got {self.balanced_share}")
        if self.augment.share and self.source != "shards":
            raise ValueError(f"augment needs source=shards; {self.source} draws fresh graphs")
        if self.shards_per_pool < 1:
            raise ValueError(f"shards_per_pool must be at least 1, got {self.shards_per_pool}")
        if (self.path is None) == (self.source == "shards"):
            raise ValueError(f"path={self.path!r} does not go with source={self.source!r}")


@runtime_checkable
class GraphSource(Protocol):
    """An endless stream of pools of training graphs, and graphs held out from it."""

    @property
    def space(self) -> GraphSpace:
        """Which graphs there may be."""

    @property
    def properties(self) -> Properties | None:
        """Properties of the graphs, if the dataset has any."""

    @property
    def inputs(self) -> InputSpace | None:
        """What the graphs are predicted from, if the dataset holds it."""

    def pool_rows(self, number: int) -> int:
        """Graphs in pool `number`, without loading it."""

    def pool(self, number: int) -> PackedGraphs:
        """Pool `number` of the stream: a pure function of the config."""

    def held_out(self, count: int, start: int = 0) -> list[Graph]:
        """Graphs that are never trained on."""


class ColoringSource:
    """COLORING graphs, from a fixed set or without end."""

    properties = inputs = None

    def __init__(self, config: DataConfig) -> None:
        self.config = config
        self.variant = COLORING_VARIANTS[config.source]
        self.space = GraphSpace(max_nodes=self.variant.max_nodes, num_node_labels=NUM_COLOURS)
        self._draw = lru_cache(maxsize=1)(self._draw_from)

    def pool_rows(self, number: int) -> int:
        """Graphs in any pool: the whole training set, or one fresh stretch."""
        return self.config.num_graphs or POOL_GRAPHS

    def pool(self, number: int) -> PackedGraphs:
        """Pass `number` over the training set, or fresh stretch `number`."""
        is_endless = self.config.num_graphs is None
        return self._draw(number * POOL_GRAPHS if is_endless else 0)

    def held_out(self, count: int, start: int = 0) -> list[Graph]:
        """Graphs of a seed that training sets cannot use."""
        return generate_coloring(count, self.variant, HELD_OUT_SEED, start)

    def _draw_from(self, start: int) -> PackedGraphs:
        count, config = self.pool_rows(0), self.config
        graphs = generate_coloring(count, self.variant, config.seed, start, config.num_workers)
        return PackedGraphs.from_graphs(graphs)


class ShardSource:
    """A dataset on disk, a few shards in memory at a time."""

    def __init__(self, config: DataConfig) -> None:
        self.config = config
        self.folder = Path(str(config.path)) / "train"
        manifest = read_manifest(self.folder)
        self.space, self.properties = manifest.space, manifest.properties
        self.inputs = manifest.inputs
        on_bad = config.on_bad_shard
        self.shards = [s for s in manifest.shards if _is_good(self.folder, s, on_bad)]
        if not self.shards:
            raise BadShardError(f"no shard of {self.folder} is usable")
        self.used_rows = _first_rows(self.shards, config.max_graphs)
        self.shards = [shard for shard in self.shards if self.used_rows[shard.file]]
        self.pools_per_epoch = -(-len(self.shards) // config.shards_per_pool)
        self.pool = lru_cache(maxsize=1)(self._draw)
        self._load = lru_cache(maxsize=1)(self._read)

    def pool_rows(self, number: int) -> int:
        """Graphs in the shards of pool `number`."""
        return sum(self.used_rows[shard.file] for shard in self._shards_of(number))

    def held_out(self, count: int, start: int = 0) -> list[Graph]:
        """Graphs of the folder `valid` next to `train`."""
        folder = self.folder.parent / "valid"
        return first_graphs(folder, start + count, self.config.on_bad_shard)[start:]

    def _shards_of(self, number: int) -> list[Shard]:
        epoch, place = divmod(number, self.pools_per_epoch)
        rng = np.random.default_rng([self.config.seed, SHARD_STREAM, epoch])
        order = rng.permutation(len(self.shards))
        width = self.config.shards_per_pool
        return [self.shards[i] for i in order[place * width : (place + 1) * width]]

    def _draw(self, number: int) -> PackedGraphs:
        """Pool `number`, with changed copies if the settings ask for them."""
        pool = self._load(tuple(self._shards_of(number)))
        if not self.config.augment.share:
            return pool
        rng = np.random.default_rng([self.config.seed, AUGMENT_STREAM, number])
        return augmented(pool, self.config.augment, rng)

    def _read(self, shards: tuple[Shard, ...]) -> PackedGraphs:
        parts = []
        for shard in shards:
            part = read_shard(self.folder, shard, self.space.directed)
            part.check(self.space, str(self.folder / shard.file))
            used = self.used_rows[shard.file]
            parts.append(part if used == len(part) else part.take(np.arange(used)))
        return PackedGraphs.join(parts)


def _first_rows(shards: Sequence[Shard], limit: int | None) -> dict[str, int]:
    """How many rows of each shard to use, so that there are at most `limit` in all.

    >>> _first_rows([Shard("a", 5, ""), Shard("b", 5, ""), Shard("c", 5, "")], 7)
    {'a': 5, 'b': 2, 'c': 0}
    """
    used, left = {}, sum(shard.rows for shard in shards) if limit is None else limit
    for shard in shards:
        used[shard.file] = min(shard.rows, left)
        left -= used[shard.file]
    return used


def _is_good(folder: Path, shard: Shard, on_bad_shard: str) -> bool:
    """Whether a shard is undamaged; a damaged one is named, and left out only on request."""
    try:
        check_shard(folder, shard)
    except BadShardError as error:
        if on_bad_shard == "fail":
            raise
        logger.warning("leaving out: %s", error)
        return False
    return True


def first_graphs(folder: Path, count: int, on_bad_shard: str = "fail") -> list[Graph]:
    """First graphs of a folder of shards, all of them if there are fewer."""
    return list(islice(stored_graphs(folder, on_bad_shard), count))


def stored_graphs(folder: Path, on_bad_shard: str = "fail") -> Iterator[Graph]:
    """All graphs of a folder of shards, one shard in memory at a time."""
    manifest = read_manifest(folder)
    for shard in manifest.shards:
        if _is_good(folder, shard, on_bad_shard):
            packed = read_shard(folder, shard, manifest.space.directed)
            packed.check(manifest.space, str(folder / shard.file))
            names = manifest.space.attributes
            graphs = packed.graphs()
            yield from graphs if names is None else (graph.named(names) for graph in graphs)


def stream_held_out(name: str, count: int, split: str) -> Iterator[Graph]:
    """Graphs to score a model on: from a named generator, or a split of a dataset folder.

    Only a few thousand of them are in memory at a time.
    """
    if (Path(name) / split).is_dir():
        return islice(stored_graphs(Path(name) / split), count)
    if name not in COLORING_VARIANTS:
        known = ", ".join(COLORING_VARIANTS)
        raise ValueError(f"{name!r} is not one of {known} or a folder with a split {split!r}")
    if split not in FIRST_HELD_OUT:
        raise ValueError(f"{name} has the splits {', '.join(FIRST_HELD_OUT)}, not {split!r}")
    source, first = open_source(build(DataConfig, {"source": name})), FIRST_HELD_OUT[split]
    stretches = (
        source.held_out(min(STRETCH, count - done), first + done)
        for done in range(0, count, STRETCH)
    )
    return chain.from_iterable(stretches)


def open_source(config: DataConfig) -> GraphSource:
    """Open the data a config names."""
    return ShardSource(config) if config.source == "shards" else ColoringSource(config)
