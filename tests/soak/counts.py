"""How often a check is made: now, and in `make soak`."""

import os

import pytest

SHARE = float(os.environ.get("GRALE_SOAK_SHARE", "1"))
"""Of the many, for machines that are slow or busy."""


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrize `count`; the many are marked `soak`."""
    scaled = max(few + 1, round(SHARE * many))
    return pytest.mark.parametrize("count", [few, pytest.param(scaled, marks=pytest.mark.soak)])
