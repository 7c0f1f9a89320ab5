"""Peak memory of reading a dataset on disk: the same for one shard and for whole epochs.

python benchmarks/shard_memory.py data/pool16 60000
python benchmarks/shard_memory.py data/pool16 1300000
"""

from __future__ import annotations

import sys

from grale.data.batching import batches_from
from grale.data.sources import DataConfig, open_source
from grale.experiments.memory import peak_memory


def main(path: str, count: int) -> None:
    """Read this many graphs in batches of 64 and print the peak."""
    source = open_source(DataConfig(source="shards", path=path))
    batches = batches_from(source, 64, 0, 0, 0, 1, True, 0.0)
    before = peak_memory()
    for _ in range(count // 64):
        next(batches)
    print(f"{count} graphs read: peak {peak_memory():.2f} GB, of which {before:.2f} before")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
