"""Compiled functions are kept between processes, and compiled again where the cache is damaged."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numba
import pytest

from damage import flipped
from grale.compiled import compiled


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes a compiled function as another process would: from its file and its cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "source.py"
    source.write_text("def twice(x):\n    return 2 * x\n")

    def make() -> Any:
        spec = spec_from_file_location("source", source)
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "source", module)  # what is unpickled refers to it
        spec.loader.exec_module(module)
        return compiled()(module.twice)

    return make


def hits(function: Any) -> int:
    """How often the cache was of use."""
    assert function(21) == 42
    return sum(function.stats.cache_hits.values())


@pytest.mark.slow
def test_the_cache_is_used_until_it_is_damaged_and_then_made_again(function, tmp_path, rng) -> None:
    assert hits(function()) == 0
    assert hits(function()) == 1
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc", ".sha256"}
    for path in files:
        content = path.read_bytes()
        bit = int(rng.integers(8 * len(content)))
        for damage in (b"", content[: len(content) // 2], b"\xff" * 50, flipped(content, bit)):
            path.write_bytes(damage)
            assert hits(function()) == 0, path
            assert hits(function()) == 1, path


def test_without_a_folder_for_the_cache_functions_are_compiled_all_the_same(
    function, tmp_path
) -> None:
    (tmp_path / "cache").write_text("a file, so that no folder can be made")
    assert hits(function()) == 0
