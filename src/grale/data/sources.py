"""Where training graphs come from: an endless stream of pools, and held-out graphs.

Departures: COLORING graphs are drawn as they are needed, where the paper draws 300,000 once;
`num_graphs` restores that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grale.data.coloring import COLORING_VARIANTS, ColoringConfig, generate_coloring
from grale.data.packed import PackedGraphs
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace

POOL_GRAPHS = 16_384
NUM_COLOURS = 4
HELD_OUT_SEED = 1_000_003  # apart from every training seed: graphs of the same law, never trained on


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """What to train on."""

    source: Literal["coloring10", "coloring15", "coloring20"] = "coloring20"
    """Which generator."""
    num_graphs: int | None = 300_000
    """Size of the training set; null draws fresh graphs for ever."""
    seed: int = 0
    """Chooses the training graphs."""
    num_workers: int = 0
    """Processes that draw graphs; changes nothing but the time."""

    def __post_init__(self) -> None:
        if self.num_graphs is not None and self.num_graphs < 1:
            raise ValueError(f"num_graphs must be at least 1 or null, got {self.num_graphs}")
        if not 0 <= self.seed < HELD_OUT_SEED:
            raise ValueError(f"seed must be in [0, {HELD_OUT_SEED}), got {self.seed}")


class ColoringSource:
    """COLORING graphs, from a fixed set or for ever."""

    def __init__(self, config: DataConfig) -> None:
        self.config = config
        self.variant: ColoringConfig = COLORING_VARIANTS[config.source]
        self.space = GraphSpace(max_nodes=self.variant.max_nodes, num_node_labels=NUM_COLOURS)
        self.pool = lru_cache(maxsize=1)(self._draw_pool)

    def _draw_pool(
        self, number: int, progress: Callable[[int], object] | None = None
    ) -> PackedGraphs:
        """Pool `number` of the endless stream; a fixed training set is one pool, every time."""
        config = self.config
        count = POOL_GRAPHS if config.num_graphs is None else config.num_graphs
        start = number * count if config.num_graphs is None else 0
        graphs = generate_coloring(
            count, self.variant, config.seed, start, config.num_workers, progress
        )
        return PackedGraphs.from_graphs(graphs)

    def training_pool(self, number: int) -> PackedGraphs:
        """Graphs of pass `number` over the training set, or of the next fresh stretch."""
        return self.pool(number if self.config.num_graphs is None else 0)

    def held_out(self, count: int, start: int = 0) -> list[Graph]:
        """Graphs that are never trained on."""
        return generate_coloring(count, self.variant, HELD_OUT_SEED, start)


def open_source(config: DataConfig) -> ColoringSource:
    """Open the data a config names."""
    return ColoringSource(config)
