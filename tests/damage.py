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
        try:
            read(path)
        except ValueError as error:
            assert len(str(error).splitlines()) == 1, f"bit {bit} of {path}: {error}"
        else:
            raise AssertionError(f"bit {bit} of {path} was flipped, and nobody noticed")
        finally:
            path.write_bytes(whole)


def flipped(content: bytes, bit: int) -> bytes:
    """The same bytes but for one bit."""
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)
