"""Checkpoints are whole or absent, checked before use, and give back what was saved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from damage import flip_bits
from grale.training.checkpoint import (
    BadCheckpointError,
    Checkpoint,
    flatten_state,
    load_checkpoint,
    newest_checkpoint,
    restore_state,
    save_checkpoint,
)
from grale.training.muon import Muon

# Imports once, then a hundred times: fork a process that saves without pause, kill it, and look.
KILLER = """
import os, random, signal, sys, time, torch
from pathlib import Path
from grale.training.checkpoint import Checkpoint, newest_checkpoint, save_checkpoint
folder, rng, step = Path(sys.argv[1]), random.Random(0), 0
for kill in range(100):
    child = os.fork()
    while child == 0:
        step += 1
        tensors = {"weights": {"w": torch.full((40_000,), float(step))}}
        save_checkpoint(folder, Checkpoint(tensors, {"step": step}), keep=2)
    while newest_checkpoint(folder) is None:
        time.sleep(0.01)
    time.sleep(rng.uniform(0.02, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = newest_checkpoint(folder)
    assert found is not None, "a checkpoint was there and is lost"
    value = found.tensors["weights"]["w"]
    assert torch.equal(value, torch.full_like(value, float(found.state["step"])))
    assert found.state["step"] >= step, "an older checkpoint than before"
    step = found.state["step"]
print(step)
"""


def _save(folder: Path, step: int) -> Path:
    tensors = {"weights": {"w": torch.full((10,), float(step))}}
    return save_checkpoint(folder, Checkpoint(tensors, {"step": step}), keep=3)


def test_loading_gives_back_what_was_saved(tmp_path: Path) -> None:
    loaded = load_checkpoint(_save(tmp_path, 7))
    assert loaded.state == {"step": 7}
    assert torch.equal(loaded.tensors["weights"]["w"], torch.full((10,), 7.0))


def test_only_the_newest_few_are_kept(tmp_path: Path) -> None:
    for step in range(6):
        _save(tmp_path, step)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"step-{s:09d}" for s in (3, 4, 5)]


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "empty state"])
def test_a_damaged_newest_checkpoint_is_named_and_the_one_before_used(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    _save(tmp_path, 1)
    newest = _save(tmp_path, 2)
    weights = newest / "weights.safetensors"
    if damage == "flip":
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.write_bytes(bytes(content))
    elif damage == "truncate":
        weights.write_bytes(weights.read_bytes()[:-4])
    elif damage == "remove":
        weights.unlink()
    else:
        (newest / "state.json").write_text("")
    with pytest.raises(BadCheckpointError, match="step-000000002"):
        load_checkpoint(newest)
    found = newest_checkpoint(tmp_path)
    assert found is not None
    assert found.state["step"] == 1
    assert "step-000000002" in caplog.text


def test_an_empty_folder_has_no_checkpoint(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path) is None


def test_optimiser_state_survives_flattening() -> None:
    def make() -> tuple[nn.Linear, list[torch.optim.Optimizer]]:
        torch.manual_seed(0)
        layer = nn.Linear(3, 3)
        return layer, [Muon([layer.weight], lr=0.1), torch.optim.AdamW([layer.bias], lr=0.1)]

    def steps(layer: nn.Linear, optimizers: list[torch.optim.Optimizer], count: int) -> None:
        for _ in range(count):
            layer(torch.ones(1, 3)).square().sum().backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()

    straight, straight_optimizers = make()
    steps(straight, straight_optimizers, 6)
    first, first_optimizers = make()
    steps(first, first_optimizers, 3)
    second, second_optimizers = make()
    second.load_state_dict(first.state_dict())
    restore_state(second_optimizers, flatten_state(first_optimizers))
    steps(second, second_optimizers, 3)
    assert torch.equal(straight.weight, second.weight)
    assert torch.equal(straight.bias, second.bias)
    assert not torch.equal(first.weight, second.weight)


@pytest.mark.slow
def test_a_hundred_kills_while_saving_always_leave_a_whole_checkpoint(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 10  # the savers got somewhere between kills


def test_every_flipped_bit_of_a_checkpoint_is_found_out(tmp_path: Path, rng) -> None:
    path = _save(tmp_path, 7)
    files = sorted(path.iterdir())
    assert [file.name for file in files] == ["state.json", "state.sha256", "weights.safetensors"]
    flip_bits(files, 30, rng, lambda damaged: load_checkpoint(path))
    assert load_checkpoint(path).state == {"step": 7}


@pytest.mark.parametrize("content", ["[" * 100_000, "[1]", " " * 6_000_000, '{"step": 1}'])
def test_a_state_that_is_deep_huge_or_none_is_one_sentence(tmp_path: Path, content: str) -> None:
    path = _save(tmp_path, 1)
    (path / "state.sha256").unlink()  # as in older checkpoints
    (path / "state.json").write_text(content)
    with pytest.raises(BadCheckpointError, match="step-000000001") as caught:
        load_checkpoint(path)
    assert len(str(caught.value).splitlines()) == 1


def test_files_of_a_checkpoint_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files = list(_save(tmp_path, 1).iterdir())
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o640}
