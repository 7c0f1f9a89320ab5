"""Vectors as a column of pyarrow: lists of float32, null in the rows that failed.

The lists have no fixed size: of pyarrow 16 to 25, none writes and reads a null among lists of one
size. So a column of ours says in the metadata of its field how long its vectors are; a part in
which every row failed knows it as well. Files of before, with lists of one size, are read too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float

VECTORS = ("embedding", "description")
WIDTH_KEY = b"width"
"""Key of the metadata of a column: how many numbers each of its vectors has."""
MOST_NUMBERS = 2**31 - 1  # in one list column of pyarrow, which counts them by int32


def vector_field(name: str, width: int) -> pa.Field:
    """Name and type of a column of vectors, with their length."""
    return pa.field(name, pa.list_(pa.float32()), metadata={WIDTH_KEY: str(width)})


def vector_lists(
    rows: Float[np.ndarray, "ok width"], is_ok: Bool[np.ndarray, " rows"]
) -> pa.ListArray:
    """Vectors of the rows that are ok; null for the others."""
    offsets = np.zeros(len(is_ok) + 1, dtype=np.int32)
    np.cumsum(is_ok * rows.shape[1], dtype=np.int32, out=offsets[1:])
    flat = np.ascontiguousarray(rows, dtype=np.float32).reshape(-1)
    return pa.ListArray.from_arrays(offsets, pa.array(flat), mask=pa.array(~is_ok))


def vector_column(
    rows: Float[np.ndarray, "ok width"], is_ok: Bool[np.ndarray, " rows"]
) -> pa.ChunkedArray:
    """Any number of such rows: one array, or several if pyarrow could not count the numbers."""
    most = MOST_NUMBERS // max(rows.shape[1], 1)
    arrays, done = [], 0
    for start in range(0, max(len(is_ok), 1), most):
        ok = is_ok[start : start + most]
        arrays.append(vector_lists(rows[done : done + ok.sum()], ok))
        done += ok.sum()
    return pa.chunked_array(arrays)


def is_of_one_size(field: pa.Field) -> bool:
    """Whether a column holds lists of one size, as files of before do."""
    return bool(pa.types.is_fixed_size_list(field.type))


def width_in(field: pa.Field) -> int | None:
    """Length of the vectors of a column, if its type or its metadata says so."""
    if is_of_one_size(field):
        return int(field.type.list_size)
    told = (field.metadata or {}).get(WIDTH_KEY, b"")
    return int(told) if told.isdigit() else None


def first_width(column: Any) -> int | None:
    """Length of the first vector of a column; None if there is none."""
    lengths = pc.list_value_length(column).drop_null()
    return int(lengths[0].as_py()) if len(lengths) else None


def matrix_of(
    column: Any, width: int, first_row: int = 0, where: Any = "the column"
) -> Float[np.ndarray, "rows {width}"]:
    """Vectors of a column as rows, NaN where there is none.

    A vector of another length is refused; `first_row` and `where` say in the message which it is.
    """
    matrix = np.full((len(column), width), np.nan, dtype=np.float32)
    start = 0
    for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        is_there = array.is_valid().to_numpy(zero_copy_only=False)
        lengths = pc.list_value_length(array).fill_null(width).to_numpy(zero_copy_only=False)
        odd = np.flatnonzero(lengths != width)
        if len(odd):
            raise ValueError(
                f"{where}: row {first_row + start + odd[0]} holds a vector of {lengths[odd[0]]} "
                f"numbers; expected {width}"
            )
        values = array.drop_null().flatten().to_numpy(zero_copy_only=False)
        matrix[start : start + len(array)][is_there] = values.reshape(is_there.sum(), width)
        start += len(array)
    return matrix
