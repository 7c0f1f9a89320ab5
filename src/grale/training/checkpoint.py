"""Checkpoints: safetensors and JSON, complete or absent, checked before use.

A checkpoint is a folder `step-000001000` with the weights, the averaged weights, the
optimisers' state and `state.json`, which holds a SHA-256 of each of them. It is written under
a temporary name and renamed when all bytes are on disk, so that a kill leaves the previous one.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grale.files import read_json, sha256_of, to_disk, whole, write_whole

logger = logging.getLogger(__name__)

STATE, STATE_CHECKSUM = "state.json", "state.sha256"
_UNREADABLE = (OSError, KeyError, TypeError, AttributeError, ValueError)
PREFIX = "step-"


class BadCheckpointError(ValueError):
    """A checkpoint whose files are missing or damaged."""


@dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to continue as if it had never stopped."""

    tensors: dict[str, dict[str, Tensor]]
    """Named groups of tensors, one file each."""
    state: dict[str, Any]
    """Plain values: step, seconds, settings."""


def save_checkpoint(folder: Path, checkpoint: Checkpoint, keep: int = 3) -> Path:
    """Write a checkpoint, then delete all but the newest `keep`."""
    final = folder / f"{PREFIX}{checkpoint.state['step']:09d}"
    pending = folder / f".{final.name}.{os.getpid()}.tmp"
    shutil.rmtree(pending, ignore_errors=True)
    pending.mkdir(parents=True)
    checksums = {}
    for name, tensors in checkpoint.tensors.items():
        path = pending / f"{name}.safetensors"
        _write(path, {key: value.detach().cpu().contiguous() for key, value in tensors.items()})
        to_disk(path)
        checksums[path.name] = sha256_of(path)
    values = json.dumps({**checkpoint.state, "sha256": checksums}, indent=2)
    state = write_whole(pending / STATE, values)
    to_disk(state)
    to_disk(write_whole(pending / STATE_CHECKSUM, sha256_of(state)))
    to_disk(pending)
    if final.exists():
        os.replace(final, folder / f".{final.name}.replaced.tmp")
    os.replace(pending, final)
    to_disk(folder)
    _tidy(folder, keep)
    return final


def load_checkpoint(path: Path) -> Checkpoint:
    """Read one checkpoint, or raise BadCheckpointError naming what is wrong with it."""
    try:
        _check_state(path)
        state = read_json(path / STATE)
        checksums = state.pop("sha256")
        for name, expected in checksums.items():
            if sha256_of(path / name) != expected:
                raise BadCheckpointError(f"{path / name} is damaged: its checksum differs")
        tensors = {Path(name).stem: load_file(path / name) for name in checksums}
    except BadCheckpointError:
        raise
    except (*_UNREADABLE, SafetensorError) as error:
        raise BadCheckpointError(f"checkpoint {path} cannot be read: {error}") from error
    return Checkpoint(tensors, state)


def _check_state(path: Path) -> None:
    """Raise if the plain values are not those that were saved; older checkpoints do not say."""
    checksum = path / STATE_CHECKSUM
    if checksum.is_file() and checksum.read_bytes().decode("latin-1") != sha256_of(path / STATE):
        raise BadCheckpointError(f"{path / STATE} is damaged: its checksum differs")


def newest_checkpoint(folder: Path) -> Checkpoint | None:
    """Newest undamaged checkpoint; damaged ones are named in the log and skipped."""
    for path in sorted(_finished(folder), reverse=True):
        try:
            return load_checkpoint(path)
        except BadCheckpointError as error:
            logger.warning("%s; trying the one before it", error)
    return None


def usable_checkpoint(folder: Path) -> Checkpoint:
    """Newest undamaged checkpoint, or an error that says what to do if there is none."""
    found = newest_checkpoint(folder)
    if found is not None:
        return found
    if not any(folder.glob(f"{PREFIX}*")):
        raise FileNotFoundError(f"no checkpoint in {folder}; leave out --resume to start again")
    raise BadCheckpointError(
        f"all checkpoints in {folder} are damaged, so the run cannot continue; "
        "to start again, remove that folder and leave out --resume, or choose another --out"
    )


def flatten_state(optimizers: list[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """All tensors of the optimisers' state, under "optimiser.weight.name"."""
    tensors = {}
    for part, optimizer in enumerate(optimizers):
        for index, values in optimizer.state_dict()["state"].items():
            for name, value in values.items():
                tensors[f"{part}.{index}.{name}"] = torch.as_tensor(value)
    return tensors


def restore_state(optimizers: list[torch.optim.Optimizer], tensors: dict[str, Tensor]) -> None:
    """Undo :func:`flatten_state`."""
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimizers]
    for key, value in tensors.items():
        part, index, name = key.split(".")
        states[int(part)].setdefault(int(index), {})[name] = value
    for optimizer, state in zip(optimizers, states):
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    try:
        with whole(path) as partial:
            save_file(tensors, partial)
    except SafetensorError as error:
        raise OSError(f"cannot write checkpoint {path}: {error}; is the disk full?") from error


def _finished(folder: Path) -> list[Path]:
    return [path for path in folder.glob(f"{PREFIX}*") if path.is_dir()]


def _tidy(folder: Path, keep: int) -> None:
    for path in sorted(_finished(folder), reverse=True)[keep:]:
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(f".{PREFIX}*.tmp"):
        shutil.rmtree(path, ignore_errors=True)
