"""Two processes that share a batch do what one process does, and killed runs go on exactly."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SMOKE = "smoke"
ATOL_SUM_ORDER = 2e-5  # two processes add the same gradients in another order
RUN = ["-m", "grale.cli", "train", str(SMOKE), "--accelerator", "cpu"]
START = [sys.executable, *RUN]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def _train(folder: Path, *arguments: str, start: list[str] = START) -> None:
    command = [*start, "--out", str(folder), *arguments]
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
    assert _losses(tmp_path / "two") == pytest.approx(_losses(tmp_path / "one"), rel=1e-4)
    assert len(_losses(tmp_path / "two")) == 4


@pytest.mark.slow
def test_processes_started_by_torchrun_learn_the_same(tmp_path: Path) -> None:
    steps = ["--set", "max_steps=3", "--set", "log_every=1", "--set", "optimizer.kind=adam"]
    _train(tmp_path / "one", *steps)
    _train(tmp_path / "two", *steps, "--devices", "2", start=[*TORCHRUN, *RUN])
    assert _losses(tmp_path / "two") == pytest.approx(_losses(tmp_path / "one"), rel=1e-4)


GRADIENT = """
import sys, torch
from pathlib import Path
from safetensors.torch import save_file
from grale.data.batching import batches_from
from grale.settings.files import load_settings
from grale.training.config import RunOptions, TrainConfig
from grale.training.loop import Trainer
config, out, devices = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
trainer = Trainer(load_settings(TrainConfig, config), out, RunOptions(
    accelerator="cpu", devices=devices))
rank, size = trainer.fabric.global_rank, trainer.fabric.world_size
batch = next(batches_from(trainer.source, 16, 0, 0, rank, size))
noise = trainer.model.draw_noise(16, torch.Generator().manual_seed(0))[batch.places]
graphs = batch.graphs
values = trainer.objective(graphs.node_mask, graphs.node_labels, graphs.edge_labels, noise)
trainer.fabric.backward(values["loss"])
if rank == 0:
    named = trainer.model.named_parameters()
    save_file({name: weight.grad.contiguous() for name, weight in named}, out)
"""


@pytest.mark.slow
def test_two_processes_have_the_gradient_of_one(tmp_path: Path) -> None:
    script = tmp_path / "gradient.py"
    script.write_text(GRADIENT)
    gradients = []
    for devices in ("1", "2"):
        out = tmp_path / f"gradient-{devices}.safetensors"
        command = [sys.executable, str(script), str(SMOKE), str(out), devices]
        result = subprocess.run(command, capture_output=True, text=True, env=_environment())
        assert result.returncode == 0, result.stderr
        gradients.append(load_file(out))
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], atol=ATOL_SUM_ORDER, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_killed_twice_ends_with_the_same_bits(tmp_path: Path, workers: int) -> None:
    settings = ["--set", "max_steps=90", "--set", f"data.num_workers={workers}"]
    settings += ["--set", "optimizer.ema_decay=0.9", "--save-every", "3"]
    _train(tmp_path / "straight", *settings)
    killed = tmp_path / "killed"
    for kill in range(2):
        resume = ["--resume"] if kill else []
        _start_and_kill(killed, *settings, *resume)
    _train(killed, *settings, "--resume")
    straight, resumed = _weights(tmp_path / "straight"), _weights(killed)
    assert straight.keys() == resumed.keys()
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


@pytest.mark.slow
def test_a_run_that_is_told_to_end_keeps_its_last_step(tmp_path: Path) -> None:
    settings = ["--set", "max_steps=40", "--save-every", "6", "--devices", "2"]
    told = tmp_path / "told"
    status, said = _start_and_end(told, signal.SIGTERM, *settings)
    assert status == 128 + signal.SIGTERM
    last = _newest_step(told)
    assert f"stopped at step {last}; --resume continues" in said
    _train(tmp_path / "straight", *settings)
    _train(told, *settings, "--resume")
    straight, resumed = _weights(tmp_path / "straight"), _weights(told)
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def _start_and_kill(folder: Path, *arguments: str) -> None:
    status, _ = _start_and_end(folder, signal.SIGKILL, *arguments)
    assert status == -signal.SIGKILL, "the run ended before it could be killed"


def _start_and_end(folder: Path, number: int, *arguments: str) -> tuple[int, str]:
    """Send a signal to a run that has written two checkpoints; its status and what it said."""
    start = _newest_step(folder)
    process = subprocess.Popen(
        [*START, "--out", str(folder), *arguments],
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        if _newest_step(folder) >= start + 6:
            break
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=240)
    return process.returncode, said


def _newest_step(folder: Path) -> int:
    return max((int(p.name[5:]) for p in (folder / "checkpoints").glob("step-*")), default=0)
