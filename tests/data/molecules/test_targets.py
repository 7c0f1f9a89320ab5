"""A column of numbers beside molecules: one value per row, and a clear word for what is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.data.molecules.files import open_molecules
from grale.data.molecules.targets import read_targets

CELLS = ["1.5", "", "-2e3", "True", "false", "NaN", " 7 ", "inf"]
EXPECTED = [1.5, np.nan, -2_000, 1, 0, np.nan, 7, np.inf]


def test_numbers_truths_and_gaps_are_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("smiles,y\n" + "".join(f"C,{cell}\n" for cell in CELLS) + "CC\n")
    found = read_targets(open_molecules(file), "y")
    np.testing.assert_array_equal(found, [*EXPECTED, np.nan])  # the last row has no such cell
    assert len(found) == sum(len(chunk.entries) for chunk in open_molecules(file).rows(100))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, 3]), [1, np.nan, 3]),
        (pa.array([True, False, None]), [1, 0, np.nan]),
        (pa.array(["1.5", None, "2"]), [1.5, np.nan, 2]),
        (pa.array([0.1, float("nan"), -1.0], pa.float32()), [0.1, np.nan, -1]),
    ],
)
def test_parquet_columns_of_any_numbers_are_read(column, expected, tmp_path: Path) -> None:
    pq.write_table(pa.table({"smiles": ["C", "CC", "CO"], "y": column}), tmp_path / "a.parquet")
    found = read_targets(open_molecules(tmp_path / "a.parquet"), "y")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (
            "smiles,y\nC,1\nCC,high\n",
            "y",
            "line 3: the target 'high' is not a number; write classes",
        ),
        ("smiles,value\nC,1\n", "my_value", "no column 'my_value'.*; did you mean 'value'"),
        ("smiles,y\nC,1\n", "zzz", "no column 'zzz'; its columns are 'smiles', 'y'"),
        ("smiles,y,y\nC,1,2\n", "y", "2 columns are called 'y'"),
        ("smiles,y\nC,C\n", "smiles", "line 2: the target 'C' is not a number"),
    ],
)
def test_what_is_no_target_is_named(text, column, message, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_targets(open_molecules(file), column)


def test_text_in_parquet_names_its_row_and_smi_files_have_no_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"smiles": ["C", "O"], "y": ["1", "x"]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="row 1: the target 'x' is not a number"):
        read_targets(open_molecules(tmp_path / "a.parquet"), "y")
    (tmp_path / "a.smi").write_text("C\n")
    with pytest.raises(ValueError, match="a smi file has no columns; give a csv or parquet"):
        read_targets(open_molecules(tmp_path / "a.smi"), "y")
