"""Many drawings in few bytes, for a page that draws them one at a time.

A drawing is its box (left, top, width, height), then shapes: a byte for the kind, one for the
colour, and numbers of two bytes in hundredths of an angstrom. Some hundred drawings and a table of
where each begins are compressed together, so that a browser opens only what is looked at.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from grale.plot.depiction import DISC, Shape
from grale.plot.stress import FloatArray

CHUNK = 256  # drawings that are compressed together
LINE, DASHED, CIRCLE, LETTER, CENTRED = range(5)  # kinds of shapes
ROOM = 0.9  # angstroms around a drawing
LEAST = 6.0  # width and height of the smallest box: a lone atom does not fill the card
MOST_COLOURS = 256


class Palette:
    """Colours of all drawings of a page, each by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, colour: str) -> int:
        """Number of a colour; beyond the 256th, they repeat."""
        known = self._numbers.setdefault(colour.lower(), len(self._numbers))
        return known % MOST_COLOURS

    def colours(self) -> list[str]:
        """The colours by their number."""
        return list(self._numbers)[:MOST_COLOURS]


def packed_drawing(shapes: Sequence[Shape], palette: Palette) -> bytes:
    """One drawing; shapes that are neither lines, discs nor letters are left out."""
    points = np.concatenate([_corners(shape) for shape in shapes] or [np.zeros((1, 2))])
    low, high = points.min(axis=0) - ROOM, points.max(axis=0) + ROOM
    middle, extent = (low + high) / 2, np.maximum(high - low, LEAST)
    corner = middle - extent / 2
    parts = [_numbers(corner[0], -corner[1] - extent[1], extent[0], extent[1])]
    parts += [_packed_shape(shape, palette.number(shape.colour)) for shape in shapes]
    return b"".join(parts)


def _corners(shape: Shape) -> FloatArray:
    """Points of a shape; a letter reaches up and to the right of its own."""
    if not shape.letter or shape.is_centred:
        return shape.points
    return np.concatenate([shape.points, shape.points + 0.7 * shape.height])


def _packed_shape(shape: Shape, colour: int) -> bytes:
    points = shape.points.tolist()
    (x, y), (x2, y2) = points[0], points[-1]
    if shape.letter:
        letters = shape.letter.encode()[:255]
        kind = CENTRED if shape.is_centred else LETTER
        head = bytes([kind, colour]) + _numbers(x, -y, shape.height)
        return head + bytes([len(letters)]) + letters
    if shape.commands == DISC:
        (x2, y2), radius = points[6], (x - points[6][0]) / 2
        return bytes([CIRCLE, colour]) + _numbers((x + x2) / 2, -(y + y2) / 2, radius)
    if shape.commands == "ML":
        kind = DASHED if shape.is_dashed else LINE
        return bytes([kind, colour]) + _numbers(x, -y, x2, -y2)
    return b""


def _numbers(*values: float) -> bytes:
    whole = (max(-32768, min(32767, round(100 * value))) for value in values)
    return struct.pack(f"<{len(values)}h", *whole)


def packed_chunk(drawings: Sequence[bytes]) -> str:
    """Some drawings with the table of their places, compressed, as text."""
    table = 4 * (len(drawings) + 1)
    places = table + np.cumsum([0, *(len(drawing) for drawing in drawings)])
    content = places.astype("<u4").tobytes() + b"".join(drawings)
    return base64.b64encode(zlib.compress(content, 9)).decode()
