"""Files of inputs: pictures, arrays, and folders of them; one row per input, in order.

    one.png          one image
    many.npy         an array: one input, or many along its first axis
    folder/          all .png and .npy files in it, by name

A file that cannot be read is a row with a reason, not an end. Nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.inputs.space import InputSpace

PICTURES, ARRAYS = (".png",), (".npy",)
LARGEST_PICTURE = 1 << 24  # bytes of a file; those of this task have a few thousand
MODE = "RGB"


class InputRow(NamedTuple):
    """One input of a file."""

    name: str
    """File, and the number of the row if there are many."""
    row: NDArray[np.uint8] | str
    """Its bytes, or why it cannot be used."""


def is_input_file(path: Path) -> bool:
    """Whether a path is a picture, an array, or a folder that holds some."""
    if path.is_dir():
        return any(_files_of(path))
    return path.suffix.lower() in (*PICTURES, *ARRAYS)


def read_inputs(path: Path, space: InputSpace) -> Iterator[InputRow]:
    """All inputs of a file or folder."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    files = _files_of(path) if path.is_dir() else [path]
    for file in files:
        if file.suffix.lower() in PICTURES:
            yield InputRow(file.name, _picture(file, space))
        else:
            yield from _array_rows(file, space)


def _files_of(folder: Path) -> list[Path]:
    kinds = (*PICTURES, *ARRAYS)
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in kinds)


def _picture(path: Path, space: InputSpace) -> NDArray[np.uint8] | str:
    """Bytes of a picture; it must have the model's size and be red, green and blue."""
    if not space.is_image:
        return f"is a picture, but this model takes {space.called()}"
    try:
        from PIL import Image, UnidentifiedImageError

        if path.stat().st_size > LARGEST_PICTURE:
            return f"has more than {LARGEST_PICTURE} bytes, too many for such a picture"
        with Image.open(path, formats=["PNG"]) as picture:
            if picture.mode != MODE:
                return f"has the mode {picture.mode}, but {MODE} is expected; convert it first"
            if picture.size != (space.size, space.size):
                wide, high = picture.size
                return f"has {wide} x {high} pixels, but {space.size} x {space.size} is expected"
            return np.asarray(picture, dtype=np.uint8).reshape(-1)
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, MemoryError) as error:
        return f"cannot be read as a picture ({_short(error)})"


def _array_rows(path: Path, space: InputSpace) -> Iterator[InputRow]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        yield InputRow(path.name, f"cannot be read as an array of numbers ({_short(error)})")
        return
    if array.shape == space.shape:
        yield InputRow(path.name, _checked(array, space))
        return
    if array.ndim < 1 or array.shape[1:] != space.shape:
        wanted = f"{space.shape} or {('n', *space.shape)}".replace("'n'", "n")
        yield InputRow(path.name, f"has the shape {array.shape}, but {wanted} is expected")
        return
    for number in range(len(array)):
        yield InputRow(f"{path.name}:{number}", _checked(array[number], space))


def _checked(array: NDArray[np.generic], space: InputSpace) -> NDArray[np.uint8] | str:
    try:
        return space.row_of(array)
    except ValueError as error:
        return str(error)


def _short(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
