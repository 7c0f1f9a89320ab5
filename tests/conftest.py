"""What a run reads: imports take longer than most tests, so a process has only those it needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SLOW_AS_A_WHOLE = re.compile(r"^pytestmark = (\[\n    )?pytest\.mark\.slow", re.MULTILINE)
SLOW_IN_PART = re.compile(r"mark\.slow|few_or_many")


def pytest_configure(config: pytest.Config) -> None:
    """Load the fixtures, but not where tests are only handed out to other processes."""
    if not config.getoption("numprocesses", None):
        config.pluginmanager.import_plugin("shared_fixtures")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file that holds no test of this run: `-m slow` and `-m 'not slow'` only."""
    wanted = config.option.markexpr
    if collection_path.suffix != ".py" or wanted not in ("slow", "not slow"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    none = SLOW_AS_A_WHOLE.search(text) if wanted == "not slow" else not SLOW_IN_PART.search(text)
    return True if none else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """See that no slow test is overlooked; leave the long forms of checks to `make soak`."""
    for path in {item.path for item in items if item.get_closest_marker("slow")}:
        if not SLOW_IN_PART.search(path.read_text(encoding="utf-8")):
            raise pytest.UsageError(f"{path} is slow, but does not say so: `-m slow` would skip it")
    if "soak" in config.option.markexpr:
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak")])
    items[:] = [item for item in items if item.get_closest_marker("soak") is None]
