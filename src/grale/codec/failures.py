"""What happens to rows that fail, everywhere: raise, leave a gap, or leave them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph

NOT_FINITE = "the model gives a vector that is not finite"
OnError = Literal["raise", "null", "skip"]
Result = TypeVar("Result")


class BadVectorError(ValueError):
    """The model accepts a graph, but its vector is not finite."""


def check_vectors(latents: NDArray[np.float32], rows: Sequence[int]) -> None:
    """Raise, naming the first of the `rows`, if a vector is not finite."""
    bad = [row for row, is_there in zip(rows, are_finite(latents)) if not is_there]
    if bad:
        raise BadVectorError(f"item {min(bad)}: {NOT_FINITE}")


def without_bad_vectors(
    items: Sequence[Graph | str], latents: NDArray[np.float32]
) -> list[Graph | str]:
    """Items, with a reason in place of each graph whose row of `latents` is not finite."""
    finite = iter(are_finite(latents))
    return [item if isinstance(item, str) or next(finite) else NOT_FINITE for item in items]


def are_finite(latents: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows of latents are finite."""
    values = np.asarray(latents, dtype=np.float32)
    return np.asarray(np.isfinite(values).all(axis=tuple(range(1, values.ndim))))


def check_on_error(on_error: str, *more: str) -> None:
    """Raise unless it is one of the three; `more` are choices that others have."""
    if on_error not in ("raise", "null", "skip"):
        first = "".join(f"{each!r}, " for each in more)
        raise ValueError(f"on_error={on_error!r}; expected {first}'raise', 'null' or 'skip'")


def run_on_good(
    run: Callable[[Any], list[Result]], items: Any, is_good: NDArray[np.bool_], on_error: OnError
) -> list[Result | None]:
    """Run on the good rows; in order, the other rows give None ("null") or nothing ("skip").

    With "raise", `run` gets all rows and names the first that fails.
    """
    check_on_error(on_error)
    if on_error == "raise" or is_good.all():
        return [*run(items)]
    found = iter(run(_take(items, np.flatnonzero(is_good))) if is_good.any() else [])
    if on_error == "skip":
        return [*found]
    return [next(found) if good else None for good in is_good]


def _take(items: Any, rows: NDArray[np.int64]) -> NDArray[Any] | Sequence[Any]:
    return items[rows] if isinstance(items, np.ndarray) else [items[row] for row in rows]
