"""Intervals around shares (not in the paper, which prints means only).

Departures: none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

TWO_SIDED_95 = 1.959964


class Share(NamedTuple):
    """How many of how many, with Wilson's 95 % interval."""

    hits: int
    count: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end; within [0, 1] and never empty, also at 0 or all hits.

        >>> low, high = Share(95, 100).interval
        >>> round(low, 3), round(high, 3)
        (0.888, 0.978)
        """
        z, n, p = TWO_SIDED_95, self.count, self.value
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} ({low:.1%} to {high:.1%})"
