"""Inputs as rows of bytes: what is taken, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from grale.inputs.space import InputSpace

IMAGE = InputSpace(kind="image", size=8)
BITS = InputSpace(kind="bits", size=6)
COUNTS = InputSpace(kind="counts", size=6)


def test_bytes_and_shares_of_one_are_the_same_image(rng) -> None:
    pixels = rng.integers(0, 256, IMAGE.shape, dtype=np.uint8)
    row = IMAGE.row_of(pixels)
    assert row.dtype == np.uint8
    assert np.array_equal(row, pixels.reshape(-1))
    assert np.array_equal(row, IMAGE.row_of(pixels / 255))
    assert np.array_equal(row, IMAGE.row_of(pixels.astype(np.int64)))


def test_counts_beyond_a_byte_are_cut_and_bits_are_not_counts() -> None:
    assert COUNTS.row_of([0, 1, 300, 0, 2, 0]).tolist() == [0, 1, 255, 0, 2, 0]
    assert BITS.row_of([True, False, True, False, False, True]).tolist() == [1, 0, 1, 0, 0, 1]
    with pytest.raises(ValueError, match="0 to 1 is expected"):
        BITS.row_of([0, 2, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("space", "values", "reason"),
    [
        (IMAGE, np.zeros((8, 9, 3)), r"shape \(8, 9, 3\), but \(8, 8, 3\)"),
        (IMAGE, np.zeros((8, 8)), "shape"),
        (IMAGE, np.full((8, 8, 3), 1.5), "0 to 1 is expected"),
        (IMAGE, np.full((8, 8, 3), np.nan), "not finite"),
        (IMAGE, np.full((8, 8, 3), 256), "0 to 255 is expected"),
        (BITS, np.zeros(7), r"shape \(7,\), but \(6,\)"),
        (COUNTS, [0, 0.5, 0, 0, 0, 0], "not whole"),
        (COUNTS, [0, -1, 0, 0, 0, 0], "not negative"),
        (BITS, list("abcdef"), "numbers are expected"),
        (BITS, [[1], [1, 2]], "not an array"),
    ],
)
def test_a_wrong_input_is_refused_with_its_reason(space, values, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        space.row_of(values)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"kind": "image", "size": 30}, "multiple of 4"),
        ({"kind": "bits", "size": 0}, "between 1 and"),
        ({"kind": "image", "size": 1 << 20}, "between 1 and"),
    ],
)
def test_a_space_that_cannot_be_is_refused(settings, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        InputSpace(**settings)
