"""Embedding a file: row by row with a status."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from grale.data.molecules.files import open_molecules
from grale.data.molecules.folder import open_file_or_folder
from grale.files import BusyError, locked
from grale.model.autoencoder import GRALE
from grale.tasks.decode import decode_file
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.reconstruct import reconstruct_file
from tasks.embedded_rows import FAILED, ROWS, embed


@pytest.mark.slow
def test_each_row_has_its_embedding_or_its_reason(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "z.parquet")
    table = pq.read_table(tmp_path / "z.parquet")
    assert table.column("row").to_pylist() == list(range(len(ROWS)))
    assert table.column("smiles").to_pylist() == ROWS
    good = [row for row in range(len(ROWS)) if row not in FAILED]
    assert [i for i, s in enumerate(table.column("status").to_pylist()) if s == "ok"] == good
    reasons = table.column("reason").to_pylist()
    assert [row for row, reason in enumerate(reasons) if reason] == FAILED
    vectors = table.column("embedding").to_pylist()
    assert all(vectors[row] is None for row in FAILED)
    expected = molecule_model.encode([ROWS[row] for row in good])
    np.testing.assert_allclose([vectors[row] for row in good], expected, atol=1e-5)
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.slow
def test_descriptions_stand_beside_or_instead_of_embeddings(
    tmp_path, molecule_model, source
) -> None:
    good = [row for row in range(len(ROWS)) if row not in FAILED]
    expected = molecule_model.describe([ROWS[row] for row in good])
    for what, columns in (("both", {"embedding", "description"}), ("description", {"description"})):
        embed(molecule_model, source, tmp_path / f"{what}.parquet", what=what)
        table = pq.read_table(tmp_path / f"{what}.parquet")
        assert {"embedding", "description"} & set(table.column_names) == columns
        rows = table.column("description").to_pylist()
        assert all(rows[row] is None for row in FAILED)
        np.testing.assert_allclose([rows[row] for row in good], expected, atol=1e-4)


@pytest.mark.slow
def test_a_vector_that_is_not_finite_is_a_failed_row(
    tmp_path, molecule_model, source, monkeypatch
) -> None:
    def broken(graphs):
        encoded = GRALE.encoded(molecule_model, graphs)
        encoded.latents[graphs.num_nodes == 1] = np.inf
        return encoded

    monkeypatch.setattr(molecule_model, "encoded", broken, raising=False)
    embed(molecule_model, source, tmp_path / "z.parquet")
    records = pq.read_table(tmp_path / "z.parquet").to_pylist()
    assert [r["row"] for r in records if r["status"] == "failed"] == [1, 3, 4, 7]
    assert records[7]["reason"] == "the model gives a vector that is not finite"
    assert records[7]["embedding"] is None


@pytest.mark.slow
def test_a_second_run_into_the_same_output_is_refused(tmp_path, molecule_model, source) -> None:
    out = tmp_path / "z.parquet"
    with locked(out), pytest.raises(BusyError, match="is being written by another run"):
        embed(molecule_model, source, out)
    assert not out.exists()
    embed(molecule_model, source, out)
    again = tmp_path / "again.parquet"
    with locked(again), pytest.raises(BusyError):
        decode_file(molecule_model, out, again)
    with locked(again), pytest.raises(BusyError):
        reconstruct_file(molecule_model, source, again)


@pytest.mark.slow
def test_rows_that_fail_are_left_out_or_stop_the_run(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "z.parquet", on_error="skip")
    rows = pq.read_table(tmp_path / "z.parquet").column("row").to_pylist()
    assert rows == [row for row in range(len(ROWS)) if row not in FAILED]
    with pytest.raises(ValueError, match=r"row 1 \(''\): the SMILES string is empty"):
        embed(molecule_model, source, tmp_path / "w.parquet", on_error="raise")
    assert not (tmp_path / "w.parquet").exists()


def test_an_empty_file_is_an_error(tmp_path, molecule_model) -> None:
    (tmp_path / "in.csv").write_text("smiles\n")
    with pytest.raises(ValueError, match="holds no rows"):
        embed(molecule_model, open_molecules(tmp_path / "in.csv"), tmp_path / "z.parquet")


@pytest.mark.slow
def test_progress_counts_rows_failures_and_time(tmp_path, molecule_model, source) -> None:
    reports: list[object] = []
    embed(molecule_model, source, tmp_path / "z.parquet", reports.append)
    assert sum(report.rows for report in reports) == len(ROWS)
    assert sum(report.failed for report in reports) == len(FAILED)
    assert all(report.parse_seconds > 0 for report in reports)


def test_a_folder_is_read_as_one_file(molecule_model: GRALE, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "b.smi").write_text("CCN\nCCC\n")
    (folder / "a.smi").write_text("CCO\n")
    (folder / "_notes.smi").write_text("not read\n")
    opened = open_file_or_folder(folder)
    assert opened.count() == 3
    assert [chunk.entries for chunk in opened.rows(2)] == [["CCO", "CCN"], ["CCC"]]
    embed_file(molecule_model, "tiny", opened, tmp_path / "out.parquet", EmbedConfig(shard_rows=2))
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["smiles"].to_pylist() == ["CCO", "CCN", "CCC"]


def test_a_folder_of_nothing_or_of_two_kinds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no file"):
        open_file_or_folder(tmp_path)
    (tmp_path / "a.smi").write_text("CCO\n")
    (tmp_path / "b.sdf").write_text("")
    with pytest.raises(ValueError, match="mixes smi and sdf"):
        open_file_or_folder(tmp_path)
