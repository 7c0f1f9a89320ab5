"""`grale probe` from the file to the files; a mistake is one clear line and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from grale.cli.main import app
from tasks.labelled_molecules import SMILES, additive, write_csv

runner = CliRunner()
ROWS = [(smiles, str(additive(smiles))) for smiles in SMILES]
USUAL = ["--contender", "counts", "--head", "ridge"]


@pytest.fixture(autouse=True)
def _no_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are folded to the width that COLUMNS gives."""
    monkeypatch.delenv("COLUMNS", raising=False)


def run(*arguments: str | Path) -> str:
    result = runner.invoke(app, ["probe", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
def test_the_shipped_model_is_compared_and_everything_is_reported(tmp_path: Path) -> None:
    rows = [*ROWS, ("x[y]", "1"), ("CCO", ""), ("C" * 40, "1.5"), ROWS[0]]
    file = write_csv(tmp_path / "a.csv", rows)
    wanted = [part for name in ("molecules", "molecules+counts", "counts") for part in
              ("--contender", name)]  # fmt: skip
    out = tmp_path / "out" / "a.png"
    output = run(file, "--target", "value", *wanted, "--head", "ridge", "-o", out)
    assert "molecules+counts" in output
    assert "73 of 76 rows, those that all contenders can take" in output
    assert "left out, 1: cannot parse SMILES 'x[y]'" in output
    assert "left out, 1: the row has no target" in output
    too_large = "the molecule has 40 heavy atoms, but the model takes at most 32"
    assert f"left out, 1: molecules: {too_large}" in output
    assert {path.name for path in out.parent.iterdir()} == {"a.png", "a.json", "a.parquet"}
    assert pq.read_metadata(out.with_suffix(".parquet")).num_rows == 76


@pytest.mark.slow
def test_duplicates_across_a_split_are_reported(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [*ROWS, *ROWS])
    output = run(file, "--target", "value", *USUAL, "-o", tmp_path / "b.png")
    assert "tested rows hold a graph that was also learned from: duplicates flatter" in output
    plain = run(write_csv(file, ROWS), "--target", "value", *USUAL, "-o", tmp_path / "b.png")
    assert "flatter" not in plain


@pytest.mark.slow
def test_classes_of_parquet_are_told_apart(tmp_path: Path) -> None:
    classes = ["O" in smiles or "S" in smiles for smiles in SMILES]
    pq.write_table(pa.table({"smiles": SMILES, "active": classes}), tmp_path / "a.parquet")
    options = ["--contender", "counts", "--head", "logistic", "--split", "size", "--splits", "2"]
    output = run(tmp_path / "a.parquet", "--target", "active", *options, "-o", tmp_path / "b.png")
    assert "ROC-AUC" in output


@pytest.mark.slow
def test_what_is_missing_is_listed(tmp_path: Path) -> None:
    rows = [(f"{front}{smiles}", "") for front in ("", "O", "F") for smiles in SMILES]
    output = run(write_csv(tmp_path / "a.csv", rows), "--what-is-missing", "--contender", "counts")
    assert "worst to read from it" in " ".join(output.split())
    assert len([line for line in output.splitlines() if line.startswith("│")]) == 10


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        (["high"] * 30, [], "line 2: the target 'high' is not a number"),
        (["1"] * 30, [], "all 30 rows have the target 1; there is nothing to tell apart"),
        ([""] * 30, [], "only 0 of 30 rows can be used"),
        (["1", "0", "2"], [], "only 3 of 3 rows can be used; at least 20 are needed"),
        (["1"] * 29 + ["0"], [], "a class has"),
        ([str(n) for n in range(30)], ["--task", "classification"], "the target has 30 values"),
        ([str(n) for n in range(30)], ["--target", "y"], "no column 'y'"),
        ([str(n) for n in range(30)], ["--contender", "no-such"], "no model of that name"),
        ([str(n) for n in range(30)], ["--out", "a.csv"], "end in one of .png, .svg"),
        ([str(n) for n in range(30)], ["--what-is-missing"], "give either --target COLUMN"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing(
    cells: list[str],
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "a.csv", list(zip(SMILES, cells)))
    contender = [] if "--contender" in options else ["--contender", "counts"]
    arguments = ["probe", "a.csv", "--target", "value", *contender, *options]
    failure = runner.invoke(app, arguments).exception
    assert isinstance(failure, ValueError | OSError)  # what `main` prints as one line
    assert message in str(failure)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
