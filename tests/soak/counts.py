"""How often a check is made: now, and in `make soak`."""

import pytest


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrize `count`; the many are marked `soak`."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.soak)])
