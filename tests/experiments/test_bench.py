"""The bench measures what it says, at sizes of seconds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from grale.experiments.bench import (
    SETTINGS,
    Speed,
    graphs_like,
    measure,
    step_at,
)

pytestmark = pytest.mark.slow


@pytest.fixture(params=range(len(SETTINGS)), ids=[setting.name for setting in SETTINGS])
def small(request: pytest.FixtureRequest):
    setting = SETTINGS[request.param]
    sizes = {"num_layers": 1, "node_dim": 16, "edge_dim": 8, "token_dim": 8, "num_heads": 2}
    changes = tuple(f"model.{name}={size}" for name, size in sizes.items())
    return replace(setting, changes=(*setting.changes, *changes), batch_size=4)


@pytest.mark.parametrize("what", ["train", "encode"])
def test_every_setting_is_measured_within_seconds(small, what: str) -> None:
    assert measure(small, what, rounds=1, batches=2).seconds < 10


def test_graphs_like_those_of_a_setting_have_its_sizes() -> None:
    for setting in SETTINGS:
        graphs = graphs_like(setting, 400)
        setting.space.check(graphs)
        mean = np.mean([graph.num_nodes for graph in graphs])
        assert mean == pytest.approx(setting.mean_size, rel=0.06)


def test_a_fast_machine_does_not_make_a_model_faster() -> None:
    slow, fast = Speed(seconds=0.1, yardstick=0.05), Speed(seconds=0.05, yardstick=0.025)
    assert slow.yardsticks == pytest.approx(fast.yardsticks)
    assert slow.graphs_per_second < fast.graphs_per_second


def test_a_step_on_a_larger_graph_takes_longer() -> None:
    assert step_at(4, recompute=True) < step_at(16, recompute=True)


def test_peak_memory_counts_what_this_process_has_held() -> None:
    code = (
        "import numpy as np, psutil; from grale.experiments.memory import peak_memory; "
        "before = peak_memory(); free = before - psutil.Process().memory_info().rss / 1e9; "
        "held = np.ones(int((free + 0.2) * 1e9 / 8)); print(peak_memory() - before, held[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout.split()[0]) > 0.1
