"""What `grale embed` writes: the columns of its input, in any format, with the model's name."""

from __future__ import annotations

import copy
import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from rdkit import Chem

import grale
from grale.codec.identity import identity_in
from grale.data.row_files import open_rows, stream_good
from grale.graphs.graph import Graph
from grale.tasks.decode import decode_file
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.embed_parts import ShardReport
from grale.tasks.vector_files import made_with_of, open_vectors, read_vectors

pytestmark = pytest.mark.slow

CSV = """ID;Canonical SMILES;pIC50;status
007;CCO;5.5;new
008;CC(=O)[O-].[Na+];;old
009;xyz;6;old
010;CCCCCCCCCCCCCCCCC;7;
011;c1ccccc1;4.5;new
"""
GOOD = [0, 1, 4]


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.csv").write_text(CSV)
    return tmp_path / "in.csv"


def embed(model, source, out, reports=None, **settings):
    config = EmbedConfig(**{"shard_rows": 2} | settings)
    opened = open_rows(source, model.space)
    embed_file(model, "tiny", opened, out, config, None if reports is None else reports.append)
    return out


def test_the_columns_of_the_input_stand_beside_the_vectors(tmp_path, molecule_model, source):
    table = pq.read_table(embed(molecule_model, source, tmp_path / "z.parquet"))
    assert table.column_names == [
        "row", "smiles", "ID", "pIC50", "input_status", "embedding", "status", "reason",
    ]  # fmt: skip
    assert table["ID"].to_pylist() == ["007", "008", "009", "010", "011"]
    assert table["pIC50"].to_pylist() == [5.5, None, 6.0, 7.0, 4.5]
    assert table["input_status"].to_pylist() == ["new", "old", "old", "", "new"]
    assert table["status"].to_pylist() == ["ok", "ok", "failed", "failed", "ok"]


def test_every_output_names_model_weights_package_and_reading(tmp_path, molecule_model, source):
    for name in ("z.parquet", "z.csv", "z.npy", "folder"):
        out = embed(molecule_model, source, tmp_path / name, what="description")
        found = made_with_of(out)
        assert found is not None, name
        assert found["fingerprint"] == molecule_model.fingerprint
        assert found["model"] == "tiny"
        assert found["reading"] == "description"
        assert found["grale"] == grale.__version__
    pq.write_table(pa.table({"embedding": [[1.0]]}), tmp_path / "plain.parquet")
    assert made_with_of(tmp_path / "plain.parquet") is None


def test_csv_and_npy_hold_what_parquet_holds(tmp_path, molecule_model, source):
    table = pq.read_table(embed(molecule_model, source, tmp_path / "z.parquet"))
    expected = np.array(table["embedding"].drop_null().to_pylist(), dtype=np.float32)
    embed(molecule_model, source, tmp_path / "z.npy")
    matrix = np.load(tmp_path / "z.npy", allow_pickle=False)
    assert np.array_equal(matrix[GOOD], expected)
    assert np.isnan(matrix[[2, 3]]).all()
    embed(molecule_model, source, tmp_path / "z.csv")
    with (tmp_path / "z.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    width = molecule_model.latent_dim
    numbers = [[float(rows[row][f"embedding_{k}"]) for k in range(width)] for row in GOOD]
    assert np.array_equal(np.array(numbers, dtype=np.float32), expected)
    assert rows[2]["embedding_0"] == ""
    with (tmp_path / "z.rows.csv").open(newline="") as file:
        beside = list(csv.DictReader(file))
    for read in (rows, beside):
        assert [row["ID"] for row in read] == table["ID"].to_pylist()
        assert [row["reason"] or None for row in read] == table["reason"].to_pylist()
    with pytest.raises(ValueError, match="holds one kind of vectors"):
        embed(molecule_model, source, tmp_path / "both.npy", what="both")
    with pytest.raises(ValueError, match=r"ends in \.parquet or \.csv or \.npy"):
        embed(molecule_model, source, tmp_path / "z.json")


def test_a_salt_is_embedded_as_its_largest_organic_part(tmp_path, molecule_model, source):
    table = pq.read_table(embed(molecule_model, source, tmp_path / "z.parquet", desalt=True))
    assert table["desalted"].to_pylist() == [None, "CC(=O)[O-]", None, None, None]
    assert table["smiles"].to_pylist()[1] == "CC(=O)[O-].[Na+]"
    vector = np.array(table["embedding"].to_pylist()[1], dtype=np.float32)
    part, salt = molecule_model.encode(["CC(=O)O", "CC(=O)O.[Na+]"])
    assert np.abs(vector - part).max() < 1e-5
    assert np.abs(vector - salt).max() > 1e-3


@pytest.mark.parametrize("name", ["z.parquet", "z.csv", "z.npy", "folder"])
def test_the_graphs_of_a_desalted_file_are_those_of_its_vectors(
    tmp_path, molecule_model, source, name
):
    stored = embed(molecule_model, source, tmp_path / name, desalt=True)
    vectors = np.asarray(read_vectors(stored))
    rows, graphs = zip(*stream_good(open_rows(stored, molecule_model.space), molecule_model.space))
    assert list(rows) == GOOD
    assert np.abs(molecule_model.encode(graphs) - vectors[GOOD]).max() < 1e-5
    salty = embed(molecule_model, source, tmp_path / f"salty-{name}")
    _, graphs = zip(*stream_good(open_rows(salty, molecule_model.space), molecule_model.space))
    assert np.abs(molecule_model.encode(graphs) - vectors[GOOD]).max() > 1e-3  # the control


def test_the_graphs_of_desalted_entries_of_an_sdf_are_those_of_its_vectors(
    tmp_path, molecule_model
):
    molecules = map(Chem.MolFromSmiles, ("CCO", "C[N+](C)(C)C.[Cl-]", "O=S(C)c1ccco1.Cl"))
    blocks = [f"{Chem.MolToMolBlock(molecule)}$$$$\n" for molecule in molecules]
    (tmp_path / "in.sdf").write_text("".join(blocks))
    stored = embed(molecule_model, tmp_path / "in.sdf", tmp_path / "z.parquet", desalt=True)
    opened = open_rows(stored, molecule_model.space)
    graphs = [graph for _, graph in stream_good(opened, molecule_model.space)]
    assert [graph.num_nodes for graph in graphs] == [3, 5, 8]
    vectors = np.asarray(read_vectors(stored))
    assert np.abs(molecule_model.encode(graphs) - vectors).max() < 1e-5


def test_reports_count_the_kinds_of_reasons(tmp_path, molecule_model, source):
    reports: list[ShardReport] = []
    embed(molecule_model, source, tmp_path / "z", reports)
    reasons = sum((report.reasons for report in reports), start=type(reports[0].reasons)())
    assert reasons == {
        "cannot parse SMILES ...": 1,
        "the molecule has ... heavy atoms, but the model takes at most ...": 1
    }  # fmt: skip
    again: list[ShardReport] = []
    embed(molecule_model, source, tmp_path / "z", again)  # all parts are there
    assert [report.reasons for report in again] == [report.reasons for report in reports]


def test_progress_moves_with_every_batch_and_reaches_the_total(tmp_path, molecule_model, source):
    told: list[int] = []
    opened = open_rows(source, molecule_model.space)
    config = EmbedConfig(batch_size=2)
    embed_file(molecule_model, "m", opened, tmp_path / "z.npy", config, advance=told.append)
    assert sum(told) == opened.survey().num_rows
    assert len(told) == 3  # the rows that failed, and two batches


def test_graphs_are_embedded_by_the_same_function(tmp_path, tiny_model, coloring_graphs):
    from grale.data.graph_files import text_of

    rows = [json.loads(text_of(graph)) | {"id": k} for k, graph in enumerate(coloring_graphs)]
    rows.insert(1, {"node_labels": [99], "edges": [], "id": 99})
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = embed(tiny_model, tmp_path / "in.jsonl", tmp_path / "z.parquet")
    table = pq.read_table(out)
    assert table["id"].to_pylist() == [row["id"] for row in rows]
    assert table["status"].to_pylist()[:3] == ["ok", "failed", "ok"]
    vectors = np.array(table["embedding"].drop_null().to_pylist())
    assert np.abs(vectors - tiny_model.encode(coloring_graphs)).max() < 1e-5
    again = pq.read_table(embed(tiny_model, out, tmp_path / "again.parquet"))
    assert again["embedding"] == table["embedding"]


def test_a_file_of_vectors_is_read_back_whatever_its_format(tmp_path, molecule_model, source):
    found = []
    for name in ("z.parquet", "z.csv", "z.npy", "folder"):
        stored = read_vectors(embed(molecule_model, source, tmp_path / name))
        assert identity_in(stored.made_with).fingerprint == molecule_model.fingerprint
        assert np.isnan(stored.vectors[[2, 3]]).all()
        found.append(np.asarray(stored)[GOOD])
    assert all(np.array_equal(rows, found[0]) for rows in found)
    with pytest.raises(ValueError, match="no column 'description'"):
        read_vectors(tmp_path / "z.parquet", "description")


def test_vectors_of_another_model_are_not_decoded(tmp_path, molecule_model, source):
    other = copy.deepcopy(molecule_model)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    for name in ("z.parquet", "z.csv", "z.npy"):
        out = embed(molecule_model, source, tmp_path / name)
        report = decode_file(molecule_model, out, tmp_path / "out.parquet")
        assert (report.rows, report.without_embedding) == (5, 2)
        with pytest.raises(ValueError, match=r"holds vectors of tiny \(.*\), but the model is a"):
            decode_file(other, out, tmp_path / "no.parquet")
        assert not (tmp_path / "no.parquet").exists()
    stored = read_vectors(tmp_path / "z.parquet")
    assert molecule_model.decode(stored, on_error="null")[2] is None
    for decode in (other.decode, other.decode_smiles, other.decode_candidates):
        with pytest.raises(ValueError, match="the input holds vectors of tiny"):
            decode(stored, on_error="null")
    silent = np.asarray(stored)[GOOD]  # a plain array carries no name
    assert isinstance(other.decode(silent)[0], Graph)


def test_an_embedded_file_can_be_embedded_again(tmp_path, molecule_model, source):
    first = embed(molecule_model, source, tmp_path / "z.parquet")
    table = pq.read_table(embed(molecule_model, first, tmp_path / "again.parquet"))
    assert table.drop(["input_status"]) == pq.read_table(first).drop(["input_status"])
    assert table.column_names == pq.read_table(first).column_names


def test_rows_of_a_file_of_vectors_are_counted_in_every_format(tmp_path, molecule_model, source):
    for name in ("z.parquet", "z.npy", "z.csv"):
        assert open_vectors(embed(molecule_model, source, tmp_path / name)).count() == 5
