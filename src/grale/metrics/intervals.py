"""Intervals around shares and means (not in the paper, which prints means only)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

TWO_SIDED_95 = 1.959964


class Share(NamedTuple):
    """How many of how many, with Wilson's 95 % interval."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end; within [0, 1] and never empty, even with no hits or only hits.

        >>> low, high = Share(95, 100).interval
        >>> round(low, 3), round(high, 3)
        (0.888, 0.978)
        """
        z, n, p = TWO_SIDED_95, self.total, self.value
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.2%} ({low:.2%} to {high:.2%})"


class Mean(NamedTuple):
    """A mean with its 95 % interval, by the normal approximation."""

    value: float
    half_width: float
    least: float = -math.inf
    """Smallest of the values; the interval is cut there."""

    @classmethod
    def of(cls, values: Sequence[float | int]) -> Mean:
        """Mean of at least one value; a single value has an infinite interval.

        >>> str(Mean.of([1, 2, 3, 2]))
        '2.000 (1.200 to 2.800)'
        """
        count = len(values)
        if count == 0:
            raise ValueError("the mean of nothing is undefined; give at least one value")
        mean = sum(values) / count
        squares = sum((value - mean) ** 2 for value in values)
        spread = math.sqrt(squares / (count - 1)) if count > 1 else math.inf
        return cls(mean, TWO_SIDED_95 * spread / math.sqrt(count), float(min(values)))

    def __str__(self) -> str:
        if math.isinf(self.half_width):
            return f"{self.value:.3f} (one value: no interval)"
        low, high = max(self.value - self.half_width, self.least), self.value + self.half_width
        return f"{self.value:.3f} ({low:.3f} to {high:.3f})"
