"""Verbs that write a folder refuse while another run writes it, and leave it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.invoking import invoke
from grale.files import BusyError, locked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("results/figure-map", ("reproduce", "figure-map", "--scale", "smoke")),
        ("results/table-tuning", ("reproduce", "table-tuning", "--scale", "smoke")),
        ("networks", ("prepare", "networks", "networks", "--count", "40")),
    ],
)
def test_a_folder_that_another_run_writes_is_left_alone(
    tmp_path: Path, monkeypatch, out: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    with locked(out), pytest.raises(BusyError, match="is being written by another run"):
        invoke(*words)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_folder_that_nobody_else_writes_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    invoke("prepare", "networks", "networks", "--count", "40")
    assert (tmp_path / "networks" / "train").is_dir()
