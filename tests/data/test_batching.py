"""Batches are a pure function of (seed, step), similar in size, and never overlap."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from grale.data.batching import batches_from, draw_shares, order_pool
from grale.data.packed import PackedGraphs
from grale.data.sources import DataConfig, open_source
from grale.graphs.graph import Graph


@pytest.fixture(scope="module")
def source():
    return open_source(DataConfig(source="coloring10", num_graphs=100))


def _ids(batches, count: int) -> list[tuple[int, tuple[int, ...]]]:
    return [(b.pool_number, tuple(b.rows.tolist())) for b in islice(batches, count)]


def test_every_row_comes_once_in_a_pass() -> None:
    sizes = np.random.default_rng(0).integers(5, 21, 1000)
    order = order_pool(sizes, 10, seed=0, pool_number=0)
    assert sorted(order.reshape(-1).tolist()) == list(range(1000))


def test_two_passes_and_two_seeds_differ() -> None:
    sizes = np.arange(100)
    first = order_pool(sizes, 10, seed=0, pool_number=0)
    assert not np.array_equal(first, order_pool(sizes, 10, seed=0, pool_number=1))
    assert not np.array_equal(first, order_pool(sizes, 10, seed=1, pool_number=0))


def test_batch_mates_have_similar_sizes() -> None:
    sizes = np.random.default_rng(0).integers(5, 21, 6400)
    spread = np.ptp(sizes[order_pool(sizes, 64, 0, 0)], axis=1)
    shuffled = np.ptp(np.random.default_rng(1).permutation(sizes).reshape(-1, 64), axis=1)
    assert spread.mean() < 1
    assert shuffled.mean() > 10


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 2.0, -1.0])
def test_large_graphs_come_more_often_by_the_power_asked_for(power: float) -> None:
    sizes = np.tile([5, 10, 20], 2000)
    pool = PackedGraphs.from_graphs([Graph([0] * size) for size in sizes])
    drawn = sizes[order_pool(sizes, 10, 0, 0, shares=draw_shares(pool, power, 0.0))]
    counts = np.array([np.sum(drawn == size) for size in (5, 10, 20)])
    assert counts[1:] / counts[0] == pytest.approx(np.array([2.0, 4.0]) ** power, rel=0.15)


def test_a_balanced_share_goes_to_all_sizes_and_labels_alike() -> None:
    graphs = [Graph([0] * 5)] * 990 + [Graph([0])] * 8 + [Graph([0, 0, 0, 0, 3])] * 2
    shares = draw_shares(PackedGraphs.from_graphs(graphs), 0.0, 0.5)
    assert shares is not None
    assert shares.sum() == pytest.approx(1)
    by_kind = [shares[:990].sum(), shares[990:998].sum(), shares[998:].sum()]
    small = 0.5 * 0.008 + 0.25 / 2 + 0.25 / 2 * 8 / 1000  # sizes alike, label 0 among all
    rare = 0.5 * 0.002 + 0.25 / 2 * 2 / 992 + 0.25 / 2 * (1 + 2 / 1000)  # label 3 is theirs alone
    assert by_kind[1:] == pytest.approx([small, rare])
    assert draw_shares(PackedGraphs.from_graphs(graphs), 0.0, 0.0) is None


def test_any_step_is_reached_without_replaying_those_before(source) -> None:
    straight = _ids(batches_from(source, 16, seed=3, step=0), 20)
    for step in (1, 5, 6, 7, 13):
        assert _ids(batches_from(source, 16, seed=3, step=step), 3) == straight[step : step + 3]


def test_steps_and_processes_agree_on_what_is_drawn_by_size(source) -> None:
    straight = list(islice(batches_from(source, 16, 3, 0, size_power=2.0), 8))
    late = next(batches_from(source, 16, 3, 7, size_power=2.0))
    assert np.array_equal(late.rows, straight[7].rows)
    parts = [next(batches_from(source, 16, 3, 7, rank, 2, size_power=2.0)) for rank in (0, 1)]
    assert all(np.array_equal(part.rows, late.rows[part.places]) for part in parts)


def test_processes_share_a_batch_without_overlap(source) -> None:
    whole = next(batches_from(source, 16, seed=0, step=2))
    parts = [next(batches_from(source, 16, 0, 2, rank, world_size=2)) for rank in range(2)]
    rows = np.concatenate([part.rows for part in parts])
    assert sorted(rows.tolist()) == sorted(whole.rows.tolist())
    assert all(np.array_equal(part.rows, whole.rows[part.places]) for part in parts)


def test_a_batch_larger_than_the_data_and_an_uneven_share_are_refused(source) -> None:
    with pytest.raises(ValueError, match="larger than a pool of 100"):
        next(batches_from(source, 128, 0, 0))
    with pytest.raises(ValueError, match="multiple of 3"):
        next(batches_from(source, 16, 0, 0, 0, world_size=3))
