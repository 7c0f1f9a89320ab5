"""What a user wants of new graphs, as numbers that the network reads.

A condition is a number, a vector, or a `Range`. For a range, values are drawn from graphs of the
training data that lie in it: the network is told values that occur, in proportion.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.prior.config import Condition

_COMPARISON = re.compile(r"\s*([^<>=\s]+)\s*(<=|>=|<|>|==|=)\s*(\S+)\s*")


class Range(NamedTuple):
    """All numbers between two, ends included."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, values: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which values lie in it."""
        return np.asarray((values >= self.low) & (values <= self.high))


Wanted = Mapping[str, float | Sequence[float] | Range]
"""What is wanted of each condition, by name."""


def parse_wanted(texts: Sequence[str]) -> dict[str, float | Range]:
    """Read comparisons such as "logP<3"; several of one name narrow its range.

    >>> parse_wanted(["logP<3", "logP>1", "size=20"])
    {'logP': Range(low=1.0, high=3.0), 'size': 20.0}
    """
    wanted: dict[str, float | Range] = {}
    for text in texts:
        name, sign, value = _comparison(text)
        before = wanted.get(name, Range())
        if sign in ("=", "==") or not isinstance(before, Range):
            if name in wanted:
                raise ValueError(f"{name} is asked for twice; {text!r} is one of them")
            wanted[name] = value
        elif sign.startswith("<"):
            wanted[name] = Range(before.low, min(before.high, value))
        else:
            wanted[name] = Range(max(before.low, value), before.high)
    return wanted


def _comparison(text: str) -> tuple[str, str, float]:
    found = _COMPARISON.fullmatch(text)
    try:
        if found is not None:
            name, sign, value = found.groups()
            if math.isfinite(float(value)):
                return name, sign, float(value)
    except ValueError:
        pass
    raise ValueError(f"cannot read {text[:100]!r}; write a comparison such as logP<3 or size=20")


def check_wanted(wanted: Wanted, known: Sequence[Condition]) -> None:
    """Raise unless the prior was trained with every condition and each can be met."""
    by_name = {condition.name: condition for condition in known}
    for name, value in wanted.items():
        if name not in by_name:
            raise ValueError(
                f"this prior was not trained with the condition {str(name)[:100]!r}; "
                f"it knows {', '.join(by_name) or 'none'}"
            )
        width = by_name[name].width
        if isinstance(value, Range):
            if width > 1:
                raise ValueError(f"{name} is a vector of {width} numbers; it has no range")
            if not value.low <= value.high:
                raise ValueError(f"no {name} lies between {value.low:g} and {value.high:g}")
            continue
        given = np.asarray(value, dtype=np.float64).reshape(-1)
        if len(given) != width:
            raise ValueError(f"{name} has {len(given)} numbers; this prior expects {width}")
        if not np.isfinite(given).all():
            raise ValueError(f"{name} must be finite, got {value}")


def draw_conditions(
    wanted: Wanted,
    known: Sequence[Condition],
    examples: NDArray[np.float32],
    count: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Conditions of `count` new graphs, NaN where nothing is wanted; `examples` have one row each.

    A range is drawn from the examples that lie in all ranges.
    """
    check_wanted(wanted, known)
    starts = np.cumsum([0, *(condition.width for condition in known)]).tolist()
    columns = {condition.name: start for condition, start in zip(known, starts)}
    rows = np.full((count, starts[-1]), np.nan, dtype=np.float32)
    ranges = {name: value for name, value in wanted.items() if isinstance(value, Range)}
    fits = np.ones(len(examples), dtype=bool)
    for name, between in ranges.items():
        fits &= between.holds(examples[:, columns[name]])
    if ranges and not fits.any():
        raise ValueError(_nothing_fits(ranges, examples, columns))
    drawn = rng.choice(np.flatnonzero(fits), count) if ranges else None
    for name, value in wanted.items():
        start = columns[name]
        if drawn is not None and isinstance(value, Range):
            rows[:, start] = examples[drawn, start]
        elif not isinstance(value, Range):
            given = np.asarray(value, dtype=np.float32).reshape(-1)
            rows[:, start : start + len(given)] = given
    return rows


def _nothing_fits(
    ranges: Mapping[str, Range], examples: NDArray[np.float32], columns: Mapping[str, int]
) -> str:
    asked = " and ".join(f"{name} in [{r.low:g}, {r.high:g}]" for name, r in ranges.items())
    seen = ", ".join(
        f"{name} from {np.nanmin(examples[:, columns[name]]):.3g} to "
        f"{np.nanmax(examples[:, columns[name]]):.3g}"
        for name in ranges
    )
    return f"no graph of the training sample has {asked}; it has {seen}; ask for less"
