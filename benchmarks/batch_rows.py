"""Processor time per molecule by the rows that pass through a model together.

    python benchmarks/batch_rows.py [MODEL]

The default of `grale.web.limits.Limits.batch_rows` comes from here.
"""

from __future__ import annotations

import sys
import time

from grale.catalog import DEFAULT_MOLECULES, load
from grale.data.samples import sample_graphs

SIZES = (1, 4, 8, 16, 32, 64)
REPEATS = 3


def main(name: str) -> None:
    """Print a line per size; molecules of the library, of mixed sizes."""
    model = load(name)
    graphs = sample_graphs(model.space, REPEATS * max(SIZES), None, "train")
    model.encode(graphs[:8])
    for size in SIZES:
        began = time.process_time()
        for repeat in range(REPEATS):
            model.encode(graphs[repeat * size : (repeat + 1) * size])
        spent = (time.process_time() - began) / REPEATS
        print(f"{size:3d} rows: {1000 * spent:6.1f} ms, {1000 * spent / size:5.1f} ms per molecule")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_MOLECULES)
