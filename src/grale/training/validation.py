"""Scores of a model during training."""

from __future__ import annotations

from typing import NamedTuple


class Validation(NamedTuple):
    """Scores on held-out graphs."""

    scores: dict[str, float]
    text: str
    """The same in words."""
