"""Two processes that share a batch do what one process does, and killed runs go on exactly."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from cli.invoking import invoke

ATOL_SUM_ORDER = 2e-5  # two processes add the same gradients in another order
START = [sys.executable, "-m", "grale.cli", "train", "smoke", "--accelerator", "cpu"]
LAST = 20  # steps of a run by two processes
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


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


PROGRAM = """
import json, sys, torch
from pathlib import Path
from safetensors.torch import save_file
from grale.data.batching import batches_from
from grale.settings.files import load_settings
from grale.training.config import RunOptions, TrainConfig
from grale.training.loop import Trainer
from grale.training.step_input import StepInput
out, devices, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
changes = [f"max_steps={last}", "log_every=1", "optimizer.kind=adam"]
trainer = Trainer(load_settings(TrainConfig, "smoke", changes), out, RunOptions(
    accelerator="cpu", devices=devices))
rank, size = trainer.fabric.global_rank, trainer.fabric.world_size
batch = next(batches_from(trainer.source, 16, 0, 0, rank, size))
noise = trainer.model.draw_noise(16, torch.Generator().manual_seed(0))[batch.places]
values = trainer.objective(StepInput.of(batch, noise, trainer.fabric.device))
trainer.fabric.backward(values["loss"])
gradient = {name: w.grad.clone() for name, w in trainer.model.named_parameters()}
trainer.model.zero_grad(set_to_none=True)
losses, early = [], {}
def watch(step):
    losses.append(step.values["loss"])
    if step.step == 4:
        early.update({name: w.detach().clone() for name, w in trainer.model.named_parameters()})
trainer.run(watch)
if rank == 0:
    save_file(gradient, out / "gradient.safetensors")
    save_file(early, out / "early.safetensors")
    (out / "losses.json").write_text(json.dumps(losses))
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run of `LAST` steps by two processes, with its program beside it."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "program.py").write_text(PROGRAM)
    command = [*TORCHRUN, str(folder / "program.py"), str(folder / "run"), "2", str(LAST)]
    result = subprocess.run(command, capture_output=True, text=True, env=_environment())
    assert result.returncode == 0, result.stderr
    return folder / "run"


@pytest.mark.slow
def test_two_processes_have_the_gradients_of_one_and_learn_the_same(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = two.parent / "program.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path), "1", str(LAST)])
    runpy.run_path(str(script))
    one, other = (load_file(folder / "gradient.safetensors") for folder in (tmp_path, two))
    for name, gradient in one.items():
        torch.testing.assert_close(gradient, other[name], atol=ATOL_SUM_ORDER, rtol=1e-3)
    one, other = (load_file(folder / "early.safetensors") for folder in (tmp_path, two))
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=ATOL_SUM_ORDER, rtol=1e-4)
    losses = [json.loads((folder / "losses.json").read_text()) for folder in (tmp_path, two)]
    assert [len(each) for each in losses] == [LAST, LAST]
    assert losses[1][:4] == pytest.approx(losses[0][:4], rel=1e-4)


@pytest.mark.soak  # the short form is in tests/soak/test_interruptions.py
def test_a_run_killed_twice_ends_with_the_same_bits(tmp_path: Path) -> None:
    settings = ["--set", "max_steps=40", "--set", "optimizer.ema_decay=0.9", "--save-every", "3"]
    invoke(*START[3:], "--out", str(tmp_path / "straight"), *settings)
    settings += ["--set", "data.num_workers=2"]
    killed = tmp_path / "killed"
    for kill in range(2):
        resume = ["--resume"] if kill else []
        _start_and_kill(killed, *settings, *resume)
    _train(killed, *settings, "--resume")
    straight, resumed = _weights(tmp_path / "straight"), _weights(killed)
    assert straight.keys() == resumed.keys()
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


@pytest.mark.slow
def test_a_run_that_is_told_to_end_keeps_its_last_step(two: Path, tmp_path: Path) -> None:
    settings = ["--set", f"max_steps={LAST}", "--set", "optimizer.kind=adam", "--devices", "2",
                "--set", "log_every=1", "--save-every", "3"]  # fmt: skip
    status, said = _start_and_end(tmp_path, signal.SIGTERM, *settings)
    assert status == 128 + signal.SIGTERM
    last = _newest_step(tmp_path)
    assert f"stopped at step {last}; --resume continues" in said
    _train(tmp_path, *settings, "--resume")
    straight, resumed = _weights(two), _weights(tmp_path)
    assert _newest_step(two) == _newest_step(tmp_path) == LAST
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
