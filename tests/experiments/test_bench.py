"""The bench measures what it says, at sizes of seconds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from grale.experiments.bench import (
    SETTINGS,
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


def test_of_every_setting_a_training_step_takes_longer_than_the_encoder_alone(small) -> None:
    training, encoding = (measure(small, what, batches=2) for what in ("train", "encode"))
    assert training.seconds > encoding.seconds


def test_graphs_like_those_of_a_setting_have_its_sizes() -> None:
    for setting in SETTINGS:
        graphs = graphs_like(setting, 400)
        setting.space.check(graphs)
        mean = np.mean([graph.num_nodes for graph in graphs])
        assert mean == pytest.approx(setting.mean_size, rel=0.06)


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
