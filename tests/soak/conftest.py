"""Each promise of docs/reliability.md is a check with a count: few now, many in `make soak`."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Writes a line that `make soak` prints at its end."""
    lines = request.config.stash.setdefault(FIGURES, [])
    began = time.monotonic()
    return lambda text: lines.append(f"{text} ({time.monotonic() - began:.0f} s)")


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if "soak" in config.option.markexpr:
        terminalreporter.section("figures")
        for line in config.stash.get(FIGURES, []):
            terminalreporter.write_line(line)
