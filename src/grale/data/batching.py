"""Which graphs make up batch number `step`: a pure function of the seed and the step.

Graphs come in pools (a generated stretch, a shard group, or a whole epoch). A pool is
shuffled, cut into windows of a few dozen batches, each window sorted by size and cut into
batches, so that batch-mates have similar sizes, and the batches of a window are shuffled.

Departures: the paper shuffles without regard to size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW_BATCHES = 64  # large enough for even sizes, small enough to stay well mixed


@dataclass(frozen=True)
class PoolOrder:
    """The batches of one pool, in order."""

    batches: NDArray[np.int64]
    """Row numbers inside the pool, shape (batches, batch size)."""

    def __len__(self) -> int:
        return len(self.batches)


def order_pool(
    sizes: NDArray[np.int64], batch_size: int, seed: int, pool_number: int
) -> PoolOrder:
    """Cut one pool into full batches of graphs of similar size.

    Rows that do not fill a last batch are left out of this pass; another pass shuffles anew.
    """
    if batch_size > len(sizes):
        raise ValueError(f"batch_size={batch_size} is larger than the pool of {len(sizes)} graphs")
    rng = np.random.default_rng([seed, pool_number])
    rows = rng.permutation(len(sizes))[: len(sizes) // batch_size * batch_size]
    batches = []
    for start in range(0, len(rows), WINDOW_BATCHES * batch_size):
        window = rows[start : start + WINDOW_BATCHES * batch_size]
        window = window[np.argsort(sizes[window], kind="stable")]
        window = window.reshape(-1, batch_size)
        batches.append(window[rng.permutation(len(window))])
    return PoolOrder(np.concatenate(batches))
