"""README blocks run, and docs/paper-map.md points at things that exist."""

from __future__ import annotations

import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
POINTERS = re.findall(r"`(grale\.[\w.]+)`", (ROOT / "docs" / "paper-map.md").read_text())
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("pointer", POINTERS)
def test_the_paper_map_points_at_something_that_exists(pointer: str) -> None:
    module, _, name = pointer.rpartition(".")
    assert hasattr(import_module(module), name)


def test_there_are_pointers_and_blocks_to_check() -> None:
    assert len(POINTERS) > 30
    assert len(PYTHON_BLOCKS) >= 1


@pytest.mark.parametrize("number", range(len(PYTHON_BLOCKS)))
def test_the_readme_block_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.py").write_text(PYTHON_BLOCKS[number])
    runpy.run_path(str(tmp_path / "block.py"))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_the_example_runs_and_draws(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(path.read_text().splitlines()) < 100
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert list(tmp_path.rglob("*.png"))


def test_decisions_named_in_the_code_exist() -> None:
    sources = "\n".join(p.read_text() for p in (ROOT / "src").rglob("*.py"))
    numbers = set(re.findall(r"decisions/(\d{3})", sources))
    written = {path.name[:3] for path in (ROOT / "docs" / "decisions").glob("*.md")}
    assert numbers
    assert numbers <= written
