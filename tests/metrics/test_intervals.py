"""Wilson's interval."""

from __future__ import annotations

import numpy as np
import pytest

from grale.metrics.intervals import Share


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (10, 10), (5, 10), (999, 1000)])
def test_the_interval_holds_the_share_and_stays_inside_the_unit(hits: int, count: int) -> None:
    share = Share(hits, count)
    low, high = share.interval
    assert 0 <= low <= share.value <= high <= 1
    assert low < high


def test_wilson_covers_as_often_as_it_says(rng: np.random.Generator) -> None:
    truth = 0.9
    covered = 0
    for hits in rng.binomial(200, truth, size=2_000):
        low, high = Share(int(hits), 200).interval
        covered += low <= truth <= high
    assert 0.93 < covered / 2_000 < 0.97
