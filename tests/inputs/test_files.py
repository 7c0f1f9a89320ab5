"""Pictures, arrays and folders of them: every file is a row, whatever is wrong with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from grale.inputs.files import is_input_file, read_inputs
from prediction_setup import BITS, IMAGE, random_rows


def test_a_folder_is_read_by_name_and_bad_files_keep_their_place(tmp_path: Path) -> None:
    pixels = random_rows(IMAGE, 3).reshape(3, 32, 32, 3)
    Image.fromarray(pixels[0]).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"no picture")
    Image.fromarray(pixels[0]).convert("L").save(tmp_path / "c.png")
    Image.fromarray(pixels[0][:16]).save(tmp_path / "d.png")
    np.save(tmp_path / "e.npy", pixels[1:])
    np.save(tmp_path / "f.npy", np.zeros((5, 5)))
    (tmp_path / "g.npy").write_bytes(b"\x93NUMPY")
    np.save(tmp_path / "h.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "notes.txt").write_text("not an input")
    rows = list(read_inputs(tmp_path, IMAGE))
    assert [row.name for row in rows] == [
        "a.png", "b.png", "c.png", "d.png", "e.npy:0", "e.npy:1", "f.npy", "g.npy", "h.npy",
    ]  # fmt: skip
    good = [row.row for row in rows if not isinstance(row.row, str)]
    assert np.array_equal(np.stack(good), pixels.reshape(3, -1))
    reasons = {row.name: row.row for row in rows if isinstance(row.row, str)}
    assert "cannot be read as a picture" in reasons["b.png"]
    assert "mode L, but RGB" in reasons["c.png"]
    assert "32 x 16 pixels" in reasons["d.png"]
    assert "shape (5, 5)" in reasons["f.npy"]
    assert "cannot be read as an array" in reasons["g.npy"]
    assert "cannot be read as an array" in reasons["h.npy"]  # never unpickled


def test_fingerprints_come_as_arrays_and_pictures_are_none(tmp_path: Path) -> None:
    rows = random_rows(BITS, 2)
    np.save(tmp_path / "many.npy", rows)
    np.save(tmp_path / "one.npy", rows[0].astype(bool))
    found = [*read_inputs(tmp_path / "many.npy", BITS), *read_inputs(tmp_path / "one.npy", BITS)]
    assert [row.row.tolist() for row in found] == [*rows.tolist(), rows[0].tolist()]
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    (picture,) = read_inputs(tmp_path / "a.png", BITS)
    assert "is a picture" in picture.row
    assert is_input_file(tmp_path)
    assert not is_input_file(tmp_path / "molecules.csv")
