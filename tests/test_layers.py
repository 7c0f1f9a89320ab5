"""What may import what, and how fast importing is."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_folders_import_only_from_the_lines_below_their_own() -> None:
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    assert lint_imports(config_filename=str(ROOT / "pyproject.toml")) == EXIT_STATUS_SUCCESS


def test_importing_grale_imports_nothing_heavy() -> None:
    code = "import sys, grale; print([m for m in ('torch', 'scipy', 'rich') if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_help_answers_in_under_a_second() -> None:
    command = [sys.executable, "-m", "grale.cli", "--help"]
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - begin)
    assert "train" in result.stdout
    assert min(seconds) < 1.0


def test_public_names_can_all_be_imported() -> None:
    import grale

    for name in grale.__all__:
        assert getattr(grale, name) is not None
    assert set(grale.__all__) <= set(dir(grale))
