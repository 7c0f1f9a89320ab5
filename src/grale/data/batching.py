"""Which graphs make up the batch of a step: a pure function of the seed and the step.

Graphs come in pools. A pool is shuffled and cut into windows of a few dozen batches. Each window is
sorted by size and cut into batches, so that the graphs of a batch have similar sizes; then the
batches of a window are shuffled. Any step can be reached directly, without replaying the ones
before it.

Departures: the paper does not group by size, and draws all graphs equally often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from jaxtyping import Float, UInt8
from numpy.typing import NDArray
from torch import Tensor

from grale.data.packed import PackedGraphs
from grale.data.sources import GraphSource
from grale.graphs.batch import GraphBatch

WINDOW_BATCHES = 64  # large enough for even sizes, small enough to stay well mixed


@dataclass(frozen=True)
class TrainingBatch:
    """The part of one process in the batch of one step."""

    graphs: GraphBatch
    pool_number: int
    rows: NDArray[np.int64]
    """Rows of the pool, for this process."""
    places: slice
    """Which of the step's graphs these are; all of them, if there is one process."""
    properties: Float[Tensor, "B p"] | None = None
    """Numbers known of the graphs, if the dataset has any."""
    inputs: UInt8[Tensor, "B w"] | None = None
    """What the graphs are predicted from, if the dataset holds it."""


def order_pool(
    sizes: NDArray[np.int64],
    batch_size: int,
    seed: int,
    pool_number: int,
    by_size: bool = True,
    shares: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Cut one pool into full batches of graphs of similar size, shape (batches, batch size).

    Without `by_size`, a batch holds graphs of any size. Rows that do not fill a last batch are left
    out of this pass; the next pass shuffles again. With `shares` (see :func:`draw_shares`), rows
    are drawn with replacement, each as often as its share says.
    """
    rng = np.random.default_rng([seed, pool_number])
    count = len(sizes) // batch_size * batch_size
    if shares is None:
        rows = rng.permutation(len(sizes))[:count]
    else:
        rows = rng.choice(len(sizes), count, p=shares)
    batches = []
    for start in range(0, len(rows), WINDOW_BATCHES * batch_size):
        window = rows[start : start + WINDOW_BATCHES * batch_size]
        if by_size:
            window = window[np.argsort(sizes[window], kind="stable")]
        window = window.reshape(-1, batch_size)
        batches.append(window[rng.permutation(len(window))])
    return np.concatenate(batches)


def draw_shares(
    pool: PackedGraphs, size_power: float, balanced_share: float
) -> NDArray[np.float64] | None:
    """How often each graph of a pool is drawn, as shares; None if all come once per pass.

    Graphs of n nodes are drawn n^size_power times as often as those of one node. Half of
    `balanced_share` goes to all sizes equally, half to all node labels equally.
    """
    if size_power == 0 and balanced_share == 0:
        return None
    sizes = pool.num_nodes
    weights = (sizes / sizes.max()) ** size_power
    shares = (1 - balanced_share) * weights / weights.sum()
    if balanced_share:
        owner = np.repeat(np.arange(len(sizes)), sizes)
        graphs, labels = np.unique(np.stack([owner, pool.node_labels]), axis=1)
        shares += balanced_share / 2 * _equal_shares(sizes, np.arange(len(sizes)), len(sizes))
        shares += balanced_share / 2 * _equal_shares(labels, graphs, len(sizes))
    return shares / shares.sum()


def _equal_shares(
    kinds: NDArray[np.integer], rows: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """Share of each of `count` rows if every kind is equally likely, and every row of a kind."""
    _, kind, frequency = np.unique(kinds, return_inverse=True, return_counts=True)
    share = 1 / (len(frequency) * frequency[kind])
    return np.asarray(np.bincount(rows, share, minlength=count), dtype=np.float64)


def batches_from(
    source: GraphSource,
    batch_size: int,
    seed: int,
    step: int,
    rank: int = 0,
    world_size: int = 1,
    by_size: bool = True,
    size_power: float = 0.0,
    balanced_share: float = 0.0,
) -> Iterator[TrainingBatch]:
    """Endless batches from `step` on; each process gets every `world_size`-th graph."""
    if batch_size % world_size:
        raise ValueError(f"batch_size={batch_size} must be a multiple of {world_size} processes")
    pool_number = 0
    while step >= (count := _batches_in(source, pool_number, batch_size)):
        step -= count
        pool_number += 1
    places = slice(rank, None, world_size)
    while True:
        pool = source.pool(pool_number)
        shares = draw_shares(pool, size_power, balanced_share)
        order = order_pool(pool.num_nodes, batch_size, seed, pool_number, by_size, shares)
        for batch in order[step:]:
            rows = batch[places]
            known = None if pool.properties is None else torch.from_numpy(pool.properties[rows])
            read = None if pool.inputs is None else torch.from_numpy(pool.inputs[rows])
            yield TrainingBatch(pool.batch(rows), pool_number, rows, places, known, read)
        step, pool_number = 0, pool_number + 1


def begun(batches: Iterator[TrainingBatch]) -> Iterator[TrainingBatch]:
    """The same batches, the first one drawn already: it may have to wait for all graphs."""
    return chain([next(batches)], batches)


def _batches_in(source: GraphSource, pool_number: int, batch_size: int) -> int:
    rows = source.pool_rows(pool_number)
    if rows < batch_size:
        raise ValueError(f"batch_size={batch_size} is larger than a pool of {rows} graphs")
    return rows // batch_size
