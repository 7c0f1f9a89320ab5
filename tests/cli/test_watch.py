"""The bar of a training run: every term by name, in lines that fit."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from grale.cli import watch as watching
from grale.cli.watch import packed, parts_of, watch
from grale.training.report import StepReport

VALUES = {
    "loss": 1.5, "mask": 0.1, "node_label": 0.2, "node_feature": 0.3, "edge_label": 0.4,
    "edge_feature": 0.5, "marginal_error": 1e-3,
}  # fmt: skip


def test_every_term_of_the_loss_is_named() -> None:
    parts = parts_of(StepReport(7, 0.5, VALUES, 812.4))
    assert parts[0] == "loss 1.500"
    for name in ("mask", "node_label", "node_feature", "edge_label", "edge_feature"):
        assert f"{name} {VALUES[name]:.3f}" in parts
    assert parts[-2:] == ["marginals 1e-03", "812 graphs/s"]
    rival = parts_of(StepReport(7, 0.5, {"loss": 2.0, "contrast": 1.0}, 5.0))
    assert rival == ["loss 2.000", "contrast 1.000", "5 graphs/s"]


@pytest.mark.parametrize("width", [30, 80, 200])
def test_lines_fit_the_terminal_and_lose_nothing(width: int) -> None:
    parts = parts_of(StepReport(7, 0.5, VALUES, 812.4))
    lines = packed(parts, width)
    assert all(len(line) <= width for line in lines)
    assert "  ".join(lines) == "  ".join(parts)


@pytest.mark.parametrize("width", [40, 120])
def test_what_is_drawn_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(watching, "console", console)
    report = StepReport(120, 0.5, VALUES, 812.4)

    def run(log, tick):
        tick(report)  # between two reports
        return "model"

    assert watch(SimpleNamespace(run=run), []) == "model"
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n")
    assert "step 120" in text
    assert "edge_feature 0.500" in text
    assert all(len(line) <= width for line in text.split("\n"))
