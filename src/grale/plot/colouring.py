"""A column by which the dots of a map are coloured: numbers on a ramp, or texts as kinds."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike, NDArray

from grale.plot.palette import CATEGORICAL_PALETTE

MOST_KINDS = len(CATEGORICAL_PALETTE)  # more frequent kinds have a colour each, the rest share one
OTHER_KINDS, OTHER_COLOUR = "other", "#c9ced4"
OUTLIERS = 1.0  # per cent at either end that share the colour of the end
MANY = 200  # numbers: with fewer, each counts


class Colouring(NamedTuple):
    """One value per point; NaN, or an empty text, if it is not known."""

    name: str
    values: ArrayLike
    """Numbers or texts."""

    def numbers(self) -> NDArray[np.float64] | None:
        """The values as numbers; None if some of them are texts."""
        try:
            return np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            return None


def page_colouring(colouring: Colouring) -> dict[str, Any]:
    """What the page of a map needs of a column."""
    numbers = colouring.numbers()
    if numbers is None:
        texts = [str(value) for value in np.asarray(colouring.values)]
        codes, kinds = kinds_of(texts)
        rare = _rare(texts, codes, kinds)
        return {"name": colouring.name, "values": _text(codes), "kinds": kinds, "rare": rare}
    low, high = ends_of(numbers)
    known = numbers[np.isfinite(numbers)]
    ticks = [f"{value:.3g}" for value in np.linspace(low, high, 5)]
    if known.size and known.min() < low:
        ticks[0] = f"≤ {ticks[0]}"
    if known.size and known.max() > high:
        ticks[-1] = f"≥ {ticks[-1]}"
    return {
        "name": colouring.name, "values": _text(numbers.astype("<f4")), "low": low, "high": high,
        "ticks": ticks,
    }  # fmt: skip


def ends_of(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the ramp: least and largest value, without a few outliers if there are many values.

    >>> ends_of(np.array([1.0, np.nan, 3.0]))
    (1.0, 3.0)
    """
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return 0.0, 1.0
    shares = (OUTLIERS, 100 - OUTLIERS) if known.size > MANY else (0.0, 100.0)
    low, high = (float(end) for end in np.percentile(known, shares))
    return (low, high) if high > low else (float(known.min()), float(known.max()))


def kinds_of(texts: Sequence[str]) -> tuple[NDArray[np.uint8], list[list[str]]]:
    """Number of each text's kind, and name and colour of each kind; the rarest share one."""
    found, counts = np.unique(np.asarray(texts, dtype=str), return_counts=True)
    frequent = found[np.argsort(-counts, kind="stable")].tolist()
    is_many = len(frequent) > MOST_KINDS
    shown = frequent[: MOST_KINDS - 1] if is_many else frequent
    place = {kind: number for number, kind in enumerate(shown)}
    codes = np.array([place.get(text, len(shown)) for text in texts], dtype=np.uint8)
    colours = CATEGORICAL_PALETTE[1:] + CATEGORICAL_PALETTE[:1]
    kinds = [[kind or "unknown", to_hex(colour)] for kind, colour in zip(shown, colours)]
    if is_many:
        kinds.append([OTHER_KINDS, OTHER_COLOUR])
    return codes, kinds


def _rare(
    texts: Sequence[str], codes: NDArray[np.uint8], kinds: Sequence[Sequence[str]]
) -> dict[int, str]:
    """Values of the points whose kind shares a colour with others, by point."""
    if len(set(texts)) <= len(kinds):
        return {}
    return {place: texts[place] for place in np.flatnonzero(codes == len(kinds) - 1).tolist()}


def _text(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()
