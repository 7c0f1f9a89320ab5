"""The bench measures what it says, at sizes of seconds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grale.experiments.bench import (
    SETTINGS,
    Speed,
    measure,
    peak_memory,
    sample_graphs,
    step_at,
)


@pytest.fixture(params=range(len(SETTINGS)), ids=[setting.name for setting in SETTINGS])
def small(request: pytest.FixtureRequest):
    setting = SETTINGS[request.param]
    sizes = {"num_layers": 1, "node_dim": 16, "edge_dim": 8, "token_dim": 8, "num_heads": 2}
    changes = tuple(f"model.{name}={size}" for name, size in sizes.items())
    return replace(setting, changes=(*setting.changes, *changes), batch_size=4)


@pytest.mark.parametrize("what", ["train", "encode"])
def test_a_measurement_is_positive_and_consistent(small, what: str) -> None:
    speed = measure(small, what, rounds=1, batches=2)
    assert speed.seconds > 0
    assert speed.yardsticks == pytest.approx(speed.seconds / speed.yardstick)


def test_sample_graphs_have_the_sizes_of_the_setting() -> None:
    for setting in SETTINGS:
        graphs = sample_graphs(setting, 400)
        setting.space.check(graphs)
        mean = np.mean([graph.num_nodes for graph in graphs])
        assert mean == pytest.approx(setting.mean_size, rel=0.06)


def test_ten_graphs_a_second_are_a_tenth_of_a_second_each() -> None:
    assert Speed(seconds=0.1, yardstick=0.05).graphs_per_second == pytest.approx(10)
    assert Speed(seconds=0.1, yardstick=0.05).yardsticks == pytest.approx(2)


@pytest.mark.slow
def test_recomputing_takes_a_step_too() -> None:
    assert step_at(8, recompute=False) > 0
    assert step_at(8, recompute=True) > 0


def test_peak_memory_counts_what_this_process_has_held() -> None:
    before = peak_memory()
    held = np.ones(int((before + 0.2) * 1e9 / 8))  # more than all it had
    assert peak_memory() > before + 0.1
    assert held[0] == 1
