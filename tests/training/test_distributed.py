"""Two processes that share a batch do what one process does, and killed runs go on exactly."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SMOKE = Path(__file__).resolve().parents[2] / "configs" / "smoke.yaml"
ATOL_SUM_ORDER = 2e-5  # two processes add the same gradients in another order
START = [sys.executable, "-m", "grale.cli", "train", str(SMOKE), "--accelerator", "cpu"]


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def _train(folder: Path, *arguments: str) -> None:
    command = [*START, "--out", str(folder), *arguments]
    result = subprocess.run(
        command, capture_output=True, text=True, env=_environment(), timeout=300
    )
    assert result.returncode == 0, result.stderr


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    newest = max((folder / "checkpoints").glob("step-*"))
    return load_file(newest / "weights.safetensors")


def _losses(folder: Path) -> list[float]:
    with (folder / "metrics.csv").open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    steps = ["--set", "max_steps=4", "--set", "log_every=1", "--set", "optimizer.kind=adam"]
    _train(tmp_path / "one", *steps)
    _train(tmp_path / "two", *steps, "--devices", "2")
    one, two = _weights(tmp_path / "one"), _weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(one[name], two[name], atol=ATOL_SUM_ORDER, rtol=1e-4)
    assert len(_losses(tmp_path / "two")) == 4


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_killed_twice_ends_with_the_same_bits(tmp_path: Path, workers: int) -> None:
    settings = ["--set", "max_steps=30", "--set", f"data.num_workers={workers}"]
    settings += ["--set", "optimizer.ema_decay=0.9", "--save-every", "3"]
    _train(tmp_path / "straight", *settings)
    killed = tmp_path / "killed"
    for kill in range(2):
        resume = ["--resume"] if kill else []
        _start_and_kill(killed, 6 * (kill + 1), *settings, *resume)
    _train(killed, *settings, "--resume")
    straight, resumed = _weights(tmp_path / "straight"), _weights(killed)
    assert straight.keys() == resumed.keys()
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def _start_and_kill(folder: Path, after_step: int, *arguments: str) -> None:
    """Kill a run once a checkpoint at or after `after_step` is there."""
    command = [*START, "--out", str(folder), *arguments]
    process = subprocess.Popen(
        command, env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        steps = [int(p.name[5:]) for p in (folder / "checkpoints").glob("step-*")]
        if max(steps, default=0) >= after_step:
            break
        time.sleep(0.01)
    assert process.poll() is None, "the run ended before it could be killed"
    process.kill()
    process.wait()
