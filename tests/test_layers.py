"""What may import what, and how fast importing is."""

from __future__ import annotations

import resource
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(find_spec("importlinter") is None, reason="import-linter is not installed")
@pytest.mark.slow
def test_folders_import_only_from_the_lines_below_their_own() -> None:
    # in a process of its own: import-linter switches off every logger it finds
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_importing_grale_imports_nothing_heavy() -> None:
    code = "import sys, grale; print([m for m in ('torch', 'scipy', 'rich') if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_help_takes_less_than_a_second_of_processor_time() -> None:
    command = [sys.executable, "-m", "grale.cli", "--help"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "train" in result.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_public_names_can_all_be_imported() -> None:
    import grale

    for name in grale.__all__:
        assert getattr(grale, name) is not None
    assert set(grale.__all__) <= set(dir(grale))
