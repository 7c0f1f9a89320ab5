"""The chemist's notebook runs from its first cell to its last, on every seventh row of its csv."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytestmark = pytest.mark.slow
NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "chemist.ipynb"
SOME = slice(1, None, 7)  # among them a salt, a gap, and a molecule that is too large


def run_cells(count: int | None = None) -> dict[str, Any]:
    """Run all code cells, or the first ones, as one program; return its names."""
    pytest.importorskip("IPython", reason="the notebook shows pictures by IPython")
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "notebook"}
    for number, source in enumerate(code[:count]):
        exec(compile(source, f"{NOTEBOOK.name}, code cell {number}", "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore:Consider using IPython.display.IFrame")
def test_every_cell_runs_on_a_small_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = pd.read_csv(NOTEBOOK.parent / "data" / "dipoles.csv", dtype=str)[SOME]
    some.to_csv(tmp_path / "some.csv", index=False)
    monkeypatch.setenv("GRALE_CSV", str(tmp_path / "some.csv"))
    names = run_cells()
    assert len(names["embedded"]) == len(some) == 43
    assert 0 < len(names["failed"]) < 4
    assert names["good"]["desalted"].notna().any()
    assert len(names["found"].rows) < len(names["good"])  # the gap
    assert set(names["found"].scores) == {"molecules", "rdkit", "ecfp", "molecules+rdkit"}
    assert sum(names["exact"]) > 0.8 * len(names["good"])
    assert "<canvas" in names["text"]
    assert len(names["legends"]) == len(names["steps"]) >= 1


def test_a_cell_that_fails_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRALE_CSV", str(NOTEBOOK.parent / "data" / "dipoles.csv"))
    monkeypatch.setenv("GRALE_COLUMN", "no such column")
    with pytest.raises(ValueError, match="no such column"):
        run_cells(2)
