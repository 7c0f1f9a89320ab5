"""How often a check is made: in `make test`, and in `make soak`."""

import os

import pytest

SHARE = float(os.environ.get("GRALE_SOAK_SHARE", "1"))
"""Of the many, for machines that are slow or busy."""


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrize `count`: the few are in `make test`, the many in `make soak`."""
    scaled = max(few + 1, round(SHARE * many))
    short = pytest.param(few, marks=pytest.mark.slow)
    return pytest.mark.parametrize("count", [short, pytest.param(scaled, marks=pytest.mark.soak)])
