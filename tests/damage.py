"""Single-bit flips: what a failing disk or a bad cable does to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np


def flip_bits(
    files: Sequence[Path], count: int, rng: np.random.Generator, read: Callable[[Path], object]
) -> None:
    """Flip so many single bits, one at a time; `read` must raise a ValueError for each.

    The files are whole again afterwards.
    """
    for number in range(count):
        path = files[number % len(files)]
        whole = path.read_bytes()
        bit = int(rng.integers(8 * len(whole)))
        path.write_bytes(flipped(whole, bit))
        reason = complaint(lambda path=path: read(path))
        path.write_bytes(whole)
        assert reason is not None, f"bit {bit} of {path} was flipped, and nobody noticed"


def complaint(run: Callable[[], object]) -> str | None:
    """Run; the one sentence of the ValueError that it raises, or None if it raises nothing."""
    try:
        run()
    except ValueError as error:
        text = str(error)
    else:
        return None
    assert len(text.splitlines()) == 1, text
    return text


def flipped(content: bytes, bit: int) -> bytes:
    """The same bytes but for one bit."""
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)
