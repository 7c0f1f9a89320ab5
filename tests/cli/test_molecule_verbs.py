"""The verbs for molecules, from a csv to embeddings and back."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.progress import Task, TaskID

from cli.invoking import invoke
from grale.cli.terminal import RateColumn, counting

pytestmark = pytest.mark.slow

ROWS = ["CCO", "CC", "bad", "c1ccccc1", "CCCN", "", "CC(C)O", "OCC"]


@pytest.fixture
def run(tmp_path, monkeypatch, molecule_model):
    monkeypatch.chdir(tmp_path)
    molecule_model.save_pretrained(tmp_path / "model")
    (tmp_path / "in.csv").write_text("smiles\n" + "".join(f'"{row}"\n' for row in ROWS))
    return invoke


def test_a_csv_becomes_embeddings_and_molecules_again(run) -> None:
    output = run("embed", "in.csv", "-o", "z.parquet", "--model", "model")
    assert "rows/s" in output
    assert pq.read_table("z.parquet").num_rows == len(ROWS)
    assert "valid molecules" in run(
        "decode", "z.parquet", "-o", "again.parquet", "--model", "model"
    )
    assert pq.read_table("again.parquet").num_rows == len(ROWS)
    output = run("reconstruct", "in.csv", "-o", "compared.parquet", "--model", "model")
    assert "exactly reconstructed" in output
    assert pq.read_table("compared.parquet").column("entry").to_pylist() == ROWS


def test_a_csv_becomes_a_dataset(run) -> None:
    output = run(
        "prepare", "molecules", "in.csv", "-o", "data", "--max-atoms", "10", "--workers", "1"
    )
    assert "duplicates" in output
    assert pq.read_table("data/rejected.parquet").num_rows == 2


def test_the_folder_of_a_dataset_may_come_last(run) -> None:
    options = ["--max-atoms", "10", "--workers", "1"]
    run("prepare", "molecules", "in.csv", "in.csv", "data", *options)
    assert pq.read_table("data/rejected.parquet").num_rows == 4
    for arguments in (["in.csv"], ["in.csv", "in.csv"], ["in.csv", "typo.csv"]):
        with pytest.raises(ValueError, match="the last argument should be the folder"):
            run("prepare", "molecules", *arguments, *options)


def test_the_bar_shows_things_per_second() -> None:
    task = Task(TaskID(0), "rows", 50_000, 0, _get_time=lambda: 100.0)
    assert RateColumn().render(task).plain == "- /s"
    task.start_time, task.completed = 0, 40_000
    assert RateColumn().render(task).plain == "400/s"
    with counting("rows", 3) as advance:
        advance(3)


def test_hostile_rows_of_the_shipped_model_come_out_as_many(run) -> None:
    rows = {
        "CCO": None, "C\0C": "NUL", "": "empty", "C\u00e9": "ASCII", "*CC": "dummy",
        "C" * 500: "500 heavy atoms", "[Na+].[Cl-]": None, "[235U]": None, "C C": "whitespace",
    }  # fmt: skip
    pq.write_table(pa.table({"smiles": [*rows, None]}), "in.parquet")
    run("embed", "in.parquet", "-o", "z.parquet")
    table = pq.read_table("z.parquet")
    assert table.column("smiles").to_pylist() == [*rows, None]
    for found, expected in zip(table.column("reason").to_pylist(), [*rows.values(), "no entry"]):
        assert found is None if expected is None else expected in found


def test_networks_are_drawn_to_a_dataset(run) -> None:
    assert "90 networks" in run("prepare", "networks", "nets", "--count", "100")


def test_pubchems_own_file_is_taken(run, tmp_path) -> None:
    import gzip

    (tmp_path / "CID-SMILES.gz").write_bytes(gzip.compress(b"1\tCCO\n2\tCC\n3\tCCC\n"))
    output = run("prepare", "pubchem", "pc", "--file", "CID-SMILES.gz", "--workers", "1")
    assert "3" in output
    with pytest.raises(FileNotFoundError, match="is not a file"):
        run("prepare", "pubchem", "pc", "--file", "none.gz")


def test_a_prepared_dataset_can_be_scored(run) -> None:
    run("prepare", "molecules", "in.csv", "-o", "data", "--max-atoms", "10", "--workers", "1")
    output = run("evaluate", "model", "--data", "data", "--split", "train", "--count", "3")
    assert "3 unseen" in output
    with pytest.raises(ValueError, match="or a folder with a split"):
        run("evaluate", "model", "--data", "nowhere")


def test_models_lists_what_is_shipped(run) -> None:
    assert "coloring-10" in run("models")
