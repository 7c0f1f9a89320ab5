"""Columns of vectors: lists of free length that know their length; lists of one size are read."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import grale.tasks.vector_columns as columns
import grale.tasks.vector_files as vector_files
from grale.catalog import load
from grale.data.row_files import open_rows
from grale.files import sha256_of, write_whole
from grale.tasks.decode import decode_file
from grale.tasks.described_rows import described_rows
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.embed_parts import checksum_of
from grale.tasks.vector_columns import matrix_of, vector_column, vector_lists, width_in
from grale.tasks.vector_files import read_vectors

OLD = Path(__file__).parent.parent / "golden" / "vectors-of-one-size.parquet"
OLD_ROWS = ["CCO", "xyz", "c1ccccc1"]
READS_NULLS = int(pa.__version__.split(".")[0]) >= 26  # among lists of one size
ALL_FAIL = "smiles\nxyz\nxyz\n"
FIRST_FAIL = "smiles\nxyz\nxyz\nCCO\nCC\n"


def embed(model, text: str, out: Path, **settings) -> Path:
    source = out.parent / "in.csv"
    if not source.exists():  # a changed file is another job
        source.write_text(text)
    config = EmbedConfig(**{"shard_rows": 2} | settings)
    embed_file(model, "tiny", open_rows(source, model.space), out, config)
    return out


def test_vectors_are_lists_of_free_length_that_other_tools_read(tmp_path, molecule_model) -> None:
    out = embed(molecule_model, FIRST_FAIL, tmp_path / "z.parquet", what="both")
    schema = pq.read_schema(out)
    widths = {"embedding": molecule_model.latent_dim, "description": molecule_model.description_dim}
    for name, width in widths.items():
        assert schema.field(name).type == pa.list_(pa.float32())
        assert width_in(schema.field(name)) == width
    rows = pq.read_table(out)["embedding"].to_pylist()
    assert [row is None for row in rows] == [True, True, False, False]


@pytest.mark.skipif(not READS_NULLS, reason="needs pyarrow 26")
def test_a_file_with_lists_of_one_size_is_read_like_a_new_one(tmp_path) -> None:
    model = load("molecules@1")
    assert pq.read_schema(OLD).field("embedding").type.list_size == model.latent_dim
    for name, expected in (
        ("embedding", model.encode(["CCO", "c1ccccc1"])),
        ("description", model.describe(["CCO", "c1ccccc1"])),
    ):
        found = read_vectors(OLD, name).vectors
        np.testing.assert_allclose(found[[0, 2]], expected, atol=1e-4)
        assert np.isnan(found[1]).all()
    report = decode_file(model, OLD, tmp_path / "out.parquet")
    assert (report.rows, report.without_embedding) == (3, 1)
    assert described_rows(model, OLD).numbers.tolist() == [0, 2]
    embed_file(model, "m", open_rows(OLD, model.space), tmp_path / "z.parquet", EmbedConfig())
    assert pq.read_table(tmp_path / "z.parquet")["smiles"].to_pylist() == OLD_ROWS


@pytest.mark.skipif(READS_NULLS, reason="needs a pyarrow before 26")
def test_a_pyarrow_that_cannot_read_a_file_of_before_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"one-size.parquet has .* update pyarrow to 26, or embed"):
        read_vectors(OLD)


@pytest.mark.parametrize("text", [ALL_FAIL, FIRST_FAIL])
@pytest.mark.parametrize("name", ["z.parquet", "z.csv", "z.npy", "folder"])
def test_rows_that_all_fail_know_how_long_their_vectors_would_be(
    tmp_path, molecule_model, text, name
) -> None:
    out = embed(molecule_model, text, tmp_path / name)
    found = read_vectors(out).vectors
    assert found.shape == (text.count("\n") - 1, molecule_model.latent_dim)
    assert np.isnan(found[:2]).all()
    assert np.isfinite(found[2:]).all()
    assert decode_file(molecule_model, out, tmp_path / "out.parquet").without_embedding == 2


def write_lists(path: Path, rows: list, kind: pa.DataType | None = None) -> Path:
    column = pa.array(rows, kind or pa.list_(pa.float32()))
    pq.write_table(pa.table({"embedding": column}), path)
    return path


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float32())])
def test_the_length_is_that_of_the_first_vector_if_no_one_says_it(
    tmp_path, monkeypatch, kind
) -> None:
    monkeypatch.setattr(vector_files, "ROWS", 2)
    rows = [None, None, None, [1.0, 2.0], [3.0, None]]
    found = read_vectors(write_lists(tmp_path / "z.parquet", rows, kind)).vectors
    nothing = [np.nan, np.nan]
    expected = np.array([nothing, nothing, nothing, [1, 2], [3, np.nan]], dtype=np.float32)
    np.testing.assert_array_equal(found, expected)
    nowhere = write_lists(tmp_path / "none.parquet", [None, None], kind)
    assert read_vectors(nowhere).vectors.shape == (2, 0)


def test_vectors_of_different_lengths_are_refused_by_their_row(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(vector_files, "ROWS", 2)
    odd = write_lists(tmp_path / "z.parquet", [[1.0, 2.0], None, None, [3.0], [4.0, 5.0]])
    with pytest.raises(
        ValueError, match=r"z.parquet: row 3 holds a vector of 1 numbers; expected 2"
    ):
        read_vectors(odd)
    folder = tmp_path / "folder"
    folder.mkdir()
    write_lists(folder / "a.parquet", [[1.0], [2.0]], pa.list_(pa.float32(), 1))
    write_lists(folder / "b.parquet", [[1.0, 2.0]], pa.list_(pa.float32(), 2))
    with pytest.raises(ValueError, match="row 2 holds a vector of 2 numbers; expected 1"):
        read_vectors(folder)


def test_a_vector_of_another_length_is_not_compared(tmp_path, molecule_model) -> None:
    out = embed(molecule_model, FIRST_FAIL, tmp_path / "z.parquet")
    table = pq.read_table(out)
    rows = table["embedding"].to_pylist()
    rows[3] = rows[3][1:]
    place = table.column_names.index("embedding")
    pq.write_table(
        table.set_column(place, "embedding", pa.array(rows, pa.list_(pa.float32()))), out
    )
    with pytest.raises(ValueError, match=r"z.parquet: row 3 holds a vector of"):
        described_rows(molecule_model, out)


def test_parts_with_lists_of_one_size_are_made_again(
    tmp_path, molecule_model, monkeypatch, caplog
) -> None:
    text = "smiles\nCCO\nCC\nxyz\nC\n"
    expected = embed(molecule_model, text, tmp_path / "z.parquet").read_bytes()
    embed(molecule_model, text, tmp_path / "folder")
    old = tmp_path / "folder" / "part-000000.parquet"
    table = pq.read_table(old, partitioning=None)
    width = molecule_model.latent_dim
    lists = pa.array(table["embedding"].to_pylist(), pa.list_(pa.float32(), width))
    place = table.column_names.index("embedding")
    pq.write_table(table.set_column(place, "embedding", lists), old)
    write_whole(checksum_of(old), sha256_of(old))
    shutil.copytree(tmp_path / "folder", tmp_path / "z.parquet.parts")
    (tmp_path / "z.parquet").unlink()
    for name in ("folder", "z.parquet"):
        embed(molecule_model, text, tmp_path / name)
    assert "part-000000.parquet is of an older version of grale" in caplog.text
    assert (tmp_path / "z.parquet").read_bytes() == expected
    kinds = [pq.read_schema(part).field("embedding").type for part in old.parent.glob("part-*")]
    assert kinds == [pa.list_(pa.float32())] * 2  # sets would compare the names of their items


def test_more_numbers_than_pyarrow_counts_are_several_arrays(monkeypatch, rng) -> None:
    is_ok = np.array([True, False, False, True, True, False, True])
    rows = rng.normal(size=(4, 3)).astype(np.float32)
    whole = vector_column(rows, is_ok)
    assert whole.num_chunks == 1
    monkeypatch.setattr(columns, "MOST_NUMBERS", 8)  # two rows of three
    pieces = vector_column(rows, is_ok)
    assert [len(piece) for piece in pieces.chunks] == [2, 2, 2, 1]
    assert pieces == whole
    expected = np.full((7, 3), np.nan, dtype=np.float32)
    expected[is_ok] = rows
    np.testing.assert_array_equal(matrix_of(pieces, 3), expected)
    np.testing.assert_array_equal(matrix_of(pieces[1:], 3), expected[1:])
    np.testing.assert_array_equal(matrix_of(vector_lists(rows, is_ok)[2:5], 3), expected[2:5])


def test_columns_without_rows_and_vectors_without_numbers_are_columns() -> None:
    nothing = vector_column(np.empty((0, 3), dtype=np.float32), np.zeros(0, dtype=bool))
    assert nothing.type == pa.list_(pa.float32())
    assert matrix_of(nothing, 3).shape == (0, 3)
    empty = vector_column(np.empty((2, 0), dtype=np.float32), np.array([True, False, True]))
    assert empty.to_pylist() == [[], None, []]
    assert matrix_of(empty, 0).shape == (3, 0)


def test_lists_of_one_size_with_nulls_become_rows() -> None:
    flat = pa.array(np.arange(6, dtype=np.float32))
    lists = pa.FixedSizeListArray.from_arrays(flat, 2, mask=pa.array([True, False, False]))
    expected = np.array([[np.nan, np.nan], [2, 3], [4, 5]], dtype=np.float32)
    np.testing.assert_array_equal(matrix_of(lists, 2), expected)
    np.testing.assert_array_equal(matrix_of(lists[1:], 2), expected[1:])
