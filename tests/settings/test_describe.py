"""Every setting is listed with what it means, and can be set by its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
from typer.testing import CliRunner

from grale.cli.main import app
from grale.settings.build import build
from grale.settings.describe import Setting, list_settings
from grale.settings.files import override
from grale.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class Inner:
    """Part of it."""

    kind: Literal["a", "b"] = "a"
    """Which one:
    a or b."""
    widths: tuple[int, ...] = (1, 2)


@dataclass(frozen=True, kw_only=True)
class Outer:
    """All of it."""

    must: int
    maybe: float | None = None
    """Perhaps."""
    inner: Inner = field(default_factory=Inner)


def test_fields_are_listed_with_kind_default_and_meaning() -> None:
    assert list_settings(Outer) == [
        Setting("must", "int", "required", ""),
        Setting("maybe", "float | null", "null", "Perhaps."),
        Setting("inner.kind", "a | b", "a", "Which one: a or b."),
        Setting("inner.widths", "list of int", "[1, 2]", ""),
    ]


@pytest.mark.slow
def test_every_setting_of_a_run_can_be_set_to_its_default_by_name() -> None:
    listed = list_settings(TrainConfig)
    names = [setting.name for setting in listed]
    assert {"model.matcher.temperature", "pigvae.num_layers", "data.source", "seed"} <= set(names)
    assert len(set(names)) == len(names)
    values = override({}, [f"{setting.name}={setting.default}" for setting in listed])
    assert build(TrainConfig, values) == TrainConfig()


@pytest.mark.slow
def test_the_verb_lists_a_part() -> None:
    result = CliRunner().invoke(app, ["settings", "matcher.temperature"])
    assert result.exit_code == 0, result.output
    assert "model.matcher.temperature = 1.0" in result.output
    assert "num_layers" not in result.output
    with pytest.raises(ValueError, match="no setting contains 'nonsense'"):
        CliRunner().invoke(app, ["settings", "nonsense"], catch_exceptions=False)
