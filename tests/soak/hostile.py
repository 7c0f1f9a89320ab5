"""Models that someone else made up, and what a process needs to refuse them all."""

from __future__ import annotations

import json
import shutil
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file

from grale.catalog import load_any
from grale.codec.storage import CONFIG, WEIGHTS
from grale.experiments.memory import peak_memory

SIZES = ("node_dim", "edge_dim", "num_tokens", "token_dim", "num_layers", "num_heads", "outer_dim")
VALUES = (10**9, 10**30, -1, 0, "many", None, [1], {"a": 1}, float("nan"), 1e308)
CONFIGS = (b"", b"{", b"null", b"[" * 10**6, b'{"a":' * 10**5, b" " * 6_000_000, b"\xff\xfe")


def variants(folder):
    """Changes to a saved model, none of which leaves it usable; the first few are of each kind."""
    for number in range(max(len(SIZES) * len(VALUES), 50)):
        name, value = SIZES[number % len(SIZES)], VALUES[number % len(VALUES)]
        yield f"{name}={value!r:.20}", lambda n=name, v=value: _set(folder, "config", n, v)
        if number < len(CONFIGS):
            yield f"config {number}", lambda b=CONFIGS[number]: _write(folder / CONFIG, b)
        if number < len(WEIGHT_CHANGES):
            yield f"weights {number}", lambda c=WEIGHT_CHANGES[number]: _change(folder, c)
        if number < 4:
            size = 10 ** (number * 3 + 3)
            yield f"max_nodes={size}", lambda s=size: _set(folder, "space", "max_nodes", s)
            yield f"cut {number}", lambda n=number: _cut(folder / WEIGHTS, n)


WEIGHT_CHANGES = (
    lambda weights, name: weights.pop(name),
    lambda weights, name: weights.update(more=torch.zeros(2)),
    lambda weights, name: weights.update({name: torch.zeros(5, 6, 7)}),
    lambda weights, name: weights.update({name: weights[name].to(torch.complex64)}),
    lambda weights, name: weights.update({name: torch.full_like(weights[name], torch.nan)}),
    lambda weights, name: weights.update({name: weights[name] + torch.inf}),
    lambda weights, name: weights.update({name: weights[name] + 1}),
    lambda weights, name: weights.clear(),
)


class Found(NamedTuple):
    """What refusing hostile models took."""

    tried: int
    slowest: float
    more: float
    """GB beyond what loading the model as it was took."""


def refuse_all(whole: Path, count: int) -> Found:
    """Try variants of a model; in a process of its own, whose peak no other test has raised."""
    folder = whole.with_name("model")
    load_any(whole)
    before, slowest, tried = peak_memory(), 0.0, 0
    for title, change in islice(variants(folder), count):
        shutil.copytree(whole, folder)
        change()
        began = time.process_time()
        with pytest.raises((ValueError, OSError)) as caught:
            load_any(folder)
        slowest = max(slowest, time.process_time() - began)
        assert len(str(caught.value).splitlines()) == 1, title
        assert "model" in str(caught.value), title
        assert len(str(caught.value)) < 1_000, title
        shutil.rmtree(folder)
        tried += 1
    load_any(whole)
    return Found(tried, slowest, peak_memory() - before)


def peak_after(megabytes: int) -> float:
    """By how much memory taken and given back raises the peak, in GB."""
    before = peak_memory()
    bytearray(b"x") * (megabytes * 1_000_000)
    return peak_memory() - before


def _set(folder, part, name, value) -> None:
    values = json.loads((folder / CONFIG).read_text())
    values.pop("sha256")  # whoever makes up a model leaves it out
    values[part][name] = value
    (folder / CONFIG).write_text(json.dumps(values))


def _write(path, content) -> None:
    path.write_bytes(content)


def _cut(path, quarters) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * quarters // 4])


def _change(folder, change) -> None:
    weights = load_file(folder / WEIGHTS)
    change(weights, next(iter(weights)))
    save_file(weights, folder / WEIGHTS)
