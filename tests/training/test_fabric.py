"""Precision of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grale.training.config import RunOptions
from grale.training.objective import OBJECTIVES

pytestmark = pytest.mark.slow  # Lightning is imported


def _precision(objective: str, options: RunOptions) -> str:
    from grale.training import fabric

    return fabric.precision_of(options, OBJECTIVES[objective].multiplies_roughly)


@pytest.mark.parametrize("multiplies", [True, False])
def test_a_prior_alone_is_trained_in_bfloat16_and_only_where_it_is_faster(
    monkeypatch: pytest.MonkeyPatch, multiplies: bool
) -> None:
    monkeypatch.setattr("grale.training.fabric.processor_multiplies_bfloat16", lambda: multiplies)
    here = RunOptions(accelerator="cpu")
    assert _precision("flow", here) == ("bf16-mixed" if multiplies else "32-true")
    assert {_precision(name, here) for name in OBJECTIVES if name != "flow"} == {"32-true"}
    assert _precision("flow", RunOptions(accelerator="cuda")) == "32-true"


def test_a_precision_that_is_named_is_used() -> None:
    asked = RunOptions(precision="bf16-mixed")
    assert _precision("reconstruct", asked) == "bf16-mixed"
    assert _precision("flow", replace(asked, precision="32-true")) == "32-true"


def test_an_accelerator_that_is_there_keeps_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grale.training.fabric.processor_multiplies_bfloat16", lambda: True)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    assert _precision("flow", RunOptions()) == "32-true"
