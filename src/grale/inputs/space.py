"""Which inputs a predictor can take: rows of bytes, whatever they show.

    image    side x side pixels of red, green and blue
    bits     a Morgan fingerprint: which places are set
    counts   the same with how often, at most 255

One byte per number is what such files hold, and a hundred thousand images fit in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

CHANNELS = 3
MOST_SIDE, MOST_PLACES = 1_024, 1 << 20  # settings may come from anyone
InputKind = Literal["image", "bits", "counts"]


@dataclass(frozen=True, kw_only=True)
class InputSpace:
    """All inputs of one kind and size."""

    kind: InputKind
    size: int
    """Pixels on each side of an image, or places of a fingerprint."""

    def __post_init__(self) -> None:
        most = MOST_SIDE if self.is_image else MOST_PLACES
        if not 1 <= self.size <= most:
            raise ValueError(f"size of the input must be between 1 and {most}, got {self.size}")
        if self.is_image and self.size % 4:
            raise ValueError(f"the side of an image must be a multiple of 4, got {self.size}")

    @property
    def is_image(self) -> bool:
        """Whether inputs are images."""
        return self.kind == "image"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input as users see it."""
        return (self.size, self.size, CHANNELS) if self.is_image else (self.size,)

    @property
    def num_bytes(self) -> int:
        """Length of one row."""
        return int(np.prod(self.shape))

    def called(self) -> str:
        """What an input is, in words.

        >>> InputSpace(kind="image", size=32).called()
        'an RGB image of 32 x 32 pixels'
        """
        if self.is_image:
            return f"an RGB image of {self.size} x {self.size} pixels"
        of = "counts" if self.kind == "counts" else "bits"
        return f"a Morgan fingerprint of {self.size} {of}"

    def holds_rows(self, values: Any) -> bool:
        """Whether an array holds rows of bytes as `row_of` makes them, so that none need it."""
        is_array = isinstance(values, np.ndarray) and values.dtype == np.uint8 and values.ndim == 2
        if not is_array or values.shape[1] != self.num_bytes:
            return False
        return self.kind != "bits" or bool((values <= 1).all())

    def of_counts(self, counts: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Counts of a fingerprint as they are, or as bits if inputs are bits."""
        return counts if self.kind == "counts" else (counts > 0).astype(np.uint8)

    def row_of(self, values: Any) -> NDArray[np.uint8]:
        """Check one input given as an array, and turn it into a row of bytes."""
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise ValueError(f"is not an array of numbers ({error})") from error
        if array.shape != self.shape:
            raise ValueError(f"has the shape {array.shape}, but {self.shape} is expected")
        if array.dtype == bool:
            array = array.astype(np.uint8)
        if array.dtype.kind not in "uif":
            raise ValueError(f"holds {array.dtype}, but numbers are expected")
        if not np.isfinite(array).all():
            raise ValueError("holds numbers that are not finite")
        return (self._pixels(array) if self.is_image else self._places(array)).reshape(-1)

    def _pixels(self, array: NDArray[Any]) -> NDArray[np.uint8]:
        """Bytes as they are; real numbers in [0, 1] become bytes."""
        if array.dtype == np.uint8:
            return array
        top = 1 if array.dtype.kind == "f" else 255
        _check_range(array, top)
        return np.round(array * (255 / top)).astype(np.uint8)

    def _places(self, array: NDArray[Any]) -> NDArray[np.uint8]:
        if (array != np.round(array)).any():
            raise ValueError("holds numbers that are not whole; a fingerprint has bits or counts")
        if self.kind == "bits":
            _check_range(array, 1)
        if (array < 0).any():
            raise ValueError(f"holds {array.min()}, but counts are not negative")
        return array.clip(max=255).astype(np.uint8)


def _check_range(array: NDArray[Any], top: int) -> None:
    low, high = array.min(), array.max()
    if low < 0 or high > top:
        raise ValueError(f"holds values from {low} to {high}, but 0 to {top} is expected")
