"""Graphs per second that the data side delivers with the model removed.

    python benchmarks/data_feeding.py

Batches are drawn from memory, from a fresh generator, and from parquet shards on disk, as in
training, and thrown away. Training consumes a few hundred graphs per second on two cores.
"""

from __future__ import annotations

import tempfile
import time
from itertools import islice
from pathlib import Path

from grale.data.batching import batches_from
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.sources import DataConfig, open_source
from grale.data.storage import write_shards
from grale.graphs.space import GraphSpace

BATCH_SIZE, NUM_BATCHES, NUM_GRAPHS = 64, 1_000, 50_000


def measure(name: str, config: DataConfig) -> None:
    """Print how fast batches come, the first pool included and left out."""
    batches = batches_from(open_source(config), BATCH_SIZE, seed=0, step=0)
    begin = time.perf_counter()
    next(batches)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    count = sum(len(batch.graphs) for batch in islice(batches, NUM_BATCHES))
    rate = count / (time.perf_counter() - begin)
    print(f"{name:28s} first batch {first:6.2f} s, then {rate:8.0f} graphs/s")


def main() -> None:
    """Measure the three kinds of source on COLORING 20."""
    measure("in memory", DataConfig(source="coloring20", num_graphs=NUM_GRAPHS))
    measure("generated without end", DataConfig(source="coloring20", num_graphs=None))
    with tempfile.TemporaryDirectory() as folder:
        space = GraphSpace(max_nodes=20, num_node_labels=4)
        graphs = generate_coloring(NUM_GRAPHS, COLORING_VARIANTS["coloring20"], seed=0)
        write_shards(Path(folder) / "train", graphs, space, shard_rows=8_192)
        measure(
            "shards, two in memory", DataConfig(source="shards", path=folder, shards_per_pool=2)
        )


if __name__ == "__main__":
    main()
