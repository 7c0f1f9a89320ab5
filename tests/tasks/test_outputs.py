"""Results are whole or not there, and never written over their input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.catalog import load
from grale.data.molecules.folder import open_file_or_folder
from grale.tasks.decode import count_rows, decode_file
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.embed_parts import PLAN, ShardReport
from grale.tasks.outputs import check_output, written_whole
from grale.tasks.reconstruct import reconstruct_file
from grale.tasks.row_output import written_rows
from grale.tasks.vector_files import made_with_of


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in.csv").write_text("smiles\nCCO\nxyz\nCC\nC\n")
    return tmp_path / "in.csv"


def test_an_input_is_never_written_over(tmp_path: Path, source: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for out in (source, folder / ".." / "in.csv"):
        with pytest.raises(ValueError, match="its own input"):
            check_output(source, out)
    for out in (folder, folder / "z.parquet"):
        with pytest.raises(ValueError, match="its own input"):
            check_output(folder, out)
    check_output(source, tmp_path / "z.parquet")


def test_a_name_that_promises_another_format_is_refused(tmp_path: Path, source: Path) -> None:
    with pytest.raises(ValueError, match="choose a name that ends in .parquet"):
        check_output(source, tmp_path / "out.csv")
    (tmp_path / "z.parquet").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        check_output(source, tmp_path / "z.parquet")


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "new" / "x.parquet"
    with pytest.raises(RuntimeError), written_whole(out, pa.schema([("n", pa.int64())])):
        raise RuntimeError
    assert not list(out.parent.iterdir())


@pytest.mark.slow
def test_rows_are_the_same_as_csv_and_as_parquet(tmp_path: Path) -> None:
    schema = pa.schema([("row", pa.int64()), ("of", pa.list_(pa.string())), ("why", pa.string())])
    rows = [{"row": 0, "of": ["C", "CC"]}, {"row": 1, "of": [], "why": 'a "b", c'}, {"row": 2}]
    for name in ("out.parquet", "out.csv"):
        with written_rows(tmp_path / name, schema, {"model": "m", "version": None}) as write:
            write(rows[:2])
            write(rows[2:])
        assert made_with_of(tmp_path / name) == {"model": "m", "version": None}
    kept = pq.read_table(tmp_path / "out.parquet").to_pylist()
    with (tmp_path / "out.csv").open(newline="") as file:
        for ours, theirs in zip(csv.DictReader(file), kept, strict=True):
            assert int(ours["row"]) == theirs["row"]
            assert (json.loads(ours["of"]) if ours["of"] else None) == theirs["of"]
            assert (ours["why"] or None) == theirs["why"]


def test_rows_that_stop_halfway_leave_the_old_csv_and_its_model(tmp_path: Path) -> None:
    out, schema = tmp_path / "out.csv", pa.schema([("row", pa.int64())])
    with written_rows(out, schema, {"model": "old"}) as write:
        write([{"row": 7}])
    with pytest.raises(KeyError), written_rows(out, schema, {"model": "new"}) as write:
        write([{"row": 8}, {}["missing"]])
    assert "7" in out.read_text()
    assert made_with_of(out) == {"model": "old"}


@pytest.mark.slow
def test_vectors_decode_to_a_csv_with_a_row_each_and_the_model(tmp_path, molecule_model) -> None:
    vectors = [molecule_model.encode(["CCO"])[0].tolist(), None]
    column = pa.array(vectors, pa.list_(pa.float32()))
    pq.write_table(pa.table({"embedding": column}), tmp_path / "z.parquet")
    for name in ("out.csv", "out.parquet"):
        decode_file(molecule_model, tmp_path / "z.parquet", tmp_path / name, model_name="mine")
    kept = pq.read_table(tmp_path / "out.parquet").to_pylist()
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == [row["status"] for row in kept]
    assert [row["smiles"] or None for row in rows] == [row["smiles"] for row in kept]
    assert "no embedding" in rows[1]["reason"]
    assert made_with_of(tmp_path / "out.csv") == made_with_of(tmp_path / "out.parquet")
    with pytest.raises(ValueError, match=r"ends in .parquet or .csv"):
        decode_file(molecule_model, tmp_path / "z.parquet", tmp_path / "out.npy")


@pytest.mark.slow
def test_a_run_that_stopped_at_a_row_goes_on_as_its_error_advises(
    tmp_path: Path, source: Path, molecule_model
) -> None:
    file, out = open_file_or_folder(source), tmp_path / "z.parquet"
    with pytest.raises(ValueError, match="use --on-error null or skip"):
        embed_file(molecule_model, "m", file, out, EmbedConfig(on_error="raise", shard_rows=1))
    reports: list[ShardReport] = []
    config = EmbedConfig(on_error="skip", shard_rows=1)
    assert embed_file(molecule_model, "m", file, out, config, reports.append) == 1
    assert [report.failed for report in reports] == [0, 1, 0, 0]


@pytest.mark.slow
def test_failures_of_finished_shards_are_counted_and_damaged_parts_done_again(
    tmp_path: Path, source: Path, molecule_model
) -> None:
    file, out, config = open_file_or_folder(source), tmp_path / "z", EmbedConfig(shard_rows=2)
    embed_file(molecule_model, "m", file, out, config)
    (out / "part-000001.parquet").write_bytes(b"")
    reports: list[ShardReport] = []
    assert embed_file(molecule_model, "m", file, out, config, reports.append) == 2
    assert [(report.rows, report.failed) for report in reports] == [(2, 1), (2, 0)]
    assert count_rows(out) == 4
    decode_file(molecule_model, out, tmp_path / "again.parquet")
    assert pq.read_table(tmp_path / "again.parquet")["row"].to_pylist() == [0, 1, 2, 3]


def test_an_empty_file_is_named_and_can_be_mended(tmp_path: Path, molecule_model) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "z.parquet"
    path.write_text("smiles\n")
    for run in (
        lambda: embed_file(molecule_model, "m", open_file_or_folder(path), out, EmbedConfig()),
        lambda: reconstruct_file(molecule_model, open_file_or_folder(path), out),
    ):
        with pytest.raises(ValueError, match=r"in.csv holds no rows"):
            run()
    assert [file.name for file in tmp_path.iterdir()] == ["in.csv"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("the user's own")
    with pytest.raises(ValueError, match=r"in.csv holds no rows"):
        embed_file(molecule_model, "m", open_file_or_folder(path), tmp_path / "mine", EmbedConfig())
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    path.write_text("smiles\nCC\n")
    embed_file(molecule_model, "m", open_file_or_folder(path), out, EmbedConfig())
    assert not list(tmp_path.glob(f"**/{PLAN}"))


@pytest.mark.slow
def test_a_model_of_colourings_takes_no_molecules(tmp_path: Path, source: Path) -> None:
    model, file = load("coloring-10"), open_file_or_folder(source)
    with pytest.raises(ValueError, match="not trained on molecules"):
        embed_file(model, "coloring-10", file, tmp_path / "z.parquet", EmbedConfig())
    with pytest.raises(ValueError, match="not trained on molecules"):
        reconstruct_file(model, file, tmp_path / "z.parquet")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"embedding": pa.array([1.0])}, "lists of numbers"),
        ({"embedding": pa.array([["a"]])}, "lists of numbers"),
        ({"embedding": pa.array([[1.0]]), "row": pa.array([7.5])}, "expected integers"),
        ({"embedding": pa.array([[1.0]]), "row": pa.array(["7"])}, "expected integers"),
    ],
)
def test_columns_that_are_no_embeddings_are_named(
    tmp_path: Path, molecule_model, columns, message
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "z.parquet")
    with pytest.raises(ValueError, match=message):
        decode_file(molecule_model, tmp_path / "z.parquet", tmp_path / "out.parquet")


def test_numbers_too_large_for_float32_fail_alone(tmp_path: Path, molecule_model) -> None:
    good = molecule_model.encode(["CCO"])[0].astype(np.float64)
    rows = pa.array([good.tolist(), (good * 0 + 1e300).tolist()])
    pq.write_table(pa.table({"embedding": rows}), tmp_path / "z.parquet")
    decode_file(molecule_model, tmp_path / "z.parquet", tmp_path / "out.parquet")
    first, second = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert first["status"] != "failed"
    assert "not a finite number" in second["reason"]


def damaged_parquet(path: Path) -> Path:
    """A file whose end, which says what it holds, is whole, and whose rows are not."""
    pq.write_table(pa.table({"smiles": ["CCO"] * 10}), path)
    content = bytearray(path.read_bytes())
    content[10:20] = b"\xff" * 10
    path.write_bytes(content)
    return path


def test_a_refused_parquet_is_named_and_leaves_nothing_behind(tmp_path, molecule_model) -> None:
    file = damaged_parquet(tmp_path / "in.parquet")
    lists = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"smiles": [[1]], "embedding": [["a"]]}), lists)
    nothing = tmp_path / "nothing.parquet"
    nothing.write_bytes(b"PAR1 nothing PAR1")
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "new" / "out.parquet"
    for run, path, reason in [
        (lambda p: _embed(molecule_model, p, out), file, "cut short or damaged after 0 rows"),
        (lambda p: _embed(molecule_model, p, out), nothing, "cut short or damaged after 0 rows"),
        (lambda p: _embed(molecule_model, p, out), lists, "not text"),
        (lambda p: _embed(molecule_model, p, out.with_suffix(".csv")), file, "parquet"),
        (lambda p: reconstruct_file(molecule_model, open_file_or_folder(p), out), file, "damaged"),
        (lambda p: decode_file(molecule_model, p, out), lists, "expected lists of numbers"),
    ]:
        with pytest.raises(ValueError, match=reason) as caught:
            run(path)
        assert len(str(caught.value).splitlines()) == 1
        assert sorted(tmp_path.iterdir()) == before


def _embed(model, path: Path, out: Path) -> int:
    return embed_file(model, "tiny", open_file_or_folder(path), out, EmbedConfig())


@pytest.mark.slow
def test_reconstructing_names_rows_whose_vector_is_not_finite(
    tmp_path, molecule_model, monkeypatch
) -> None:
    plain = molecule_model.encoded

    def broken(batch):
        found = plain(batch)
        is_bad = batch.num_nodes == 1
        return found._replace(latents=found.latents.masked_fill(is_bad[:, None], np.inf))

    monkeypatch.setattr(molecule_model, "encoded", broken, raising=False)
    (tmp_path / "in.smi").write_text("CCO\nC\nCC\n")
    reconstruct_file(
        molecule_model, open_file_or_folder(tmp_path / "in.smi"), tmp_path / "z.parquet"
    )
    rows = pq.read_table(tmp_path / "z.parquet").to_pylist()
    assert [row["reason"] for row in rows][1] == "the model gives a vector that is not finite"
    assert [row["status"] == "failed" for row in rows] == [False, True, False]
