"""Decoding a file of embeddings: a row each, with its molecule or its reason."""

from __future__ import annotations

import copy

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import grale
from grale.catalog import load
from grale.codec.options import CodecOptions
from grale.data.graph_files import text_of
from grale.data.row_files import open_rows
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.tasks.decode import decode_file
from tasks.embedded_rows import FAILED, ROWS, embed


@pytest.mark.slow
def test_embeddings_decode_to_a_row_each(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "z.parquet")
    report = decode_file(
        molecule_model,
        tmp_path / "z.parquet",
        tmp_path / "out.parquet",
        CodecOptions(candidates=2, molecule_tries=30),
    )
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("row").to_pylist() == list(range(len(ROWS)))
    assert report.without_embedding == len(FAILED)
    for row, (smiles, reason) in enumerate(
        zip(table.column("smiles").to_pylist(), table.column("reason").to_pylist(), strict=True)
    ):
        assert (smiles is None) == (reason is not None)
        assert (reason == "the row has no embedding") == (row in FAILED)
    assert set(table.column("verified").to_pylist()) == {None}
    valid = sum(smiles is not None for smiles in table.column("smiles").to_pylist())
    assert report.validity == pytest.approx(valid / (len(ROWS) - len(FAILED)))
    pq.write_table(pa.table({"embedding": [[1.0, 2.0]]}), tmp_path / "short.parquet")
    with pytest.raises(ValueError, match="use the model that made them"):
        decode_file(molecule_model, tmp_path / "short.parquet", tmp_path / "out.parquet")
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="no column 'embedding'"):
        decode_file(molecule_model, tmp_path / "none.parquet", tmp_path / "out.parquet")


def test_embeddings_that_are_broken_have_their_reason(tmp_path, molecule_model) -> None:
    good = molecule_model.encode(["CCO"])[0].tolist()
    rows = [good, None, [None, *good[1:]], [float("nan"), *good[1:]], good[1:]]
    pq.write_table(pa.table({"embedding": pa.array(rows, pa.list_(pa.float32()))}), tmp_path / "z")
    decode_file(molecule_model, tmp_path / "z", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(table) == 5
    assert "no embedding" in table[1]["reason"]
    assert all("not a finite number" in table[row]["reason"] for row in (2, 3))
    assert f"{len(good) - 1} numbers" in table[4]["reason"]
    assert all(row["status"] == "failed" and row["smiles"] is None for row in table[1:])


@pytest.mark.slow
def test_decoding_with_a_search_says_what_is_verified(tmp_path, source) -> None:
    model, again = load("molecules@1"), tmp_path / "out.parquet"
    embed(model, source, tmp_path / "z.parquet")
    decode_file(
        model, tmp_path / "z.parquet", again, CodecOptions(searched_graphs=8, molecule_tries=20)
    )
    table = pq.read_table(again)
    smiles, verified = (table.column(name).to_pylist() for name in ("smiles", "verified"))
    assert [entry is None for entry in smiles] == [answer is None for answer in verified]
    assert any(verified)
    for entry, found, answer in zip(ROWS, smiles, verified):
        if answer is not None:
            assert answer == is_isomorphic(Graph.from_smiles(entry), Graph.from_smiles(found))


@pytest.mark.slow
def test_as_many_candidates_are_given_as_asked_for() -> None:
    model = load("molecules@1")
    (best,) = model.decode_candidates(model.encode(["CC(=O)Oc1ccccc1"]), candidates=30, tries=20)
    assert len(set(best)) == len(best) == 30


def test_a_model_of_graphs_does_not_decode_to_smiles(tmp_path, tiny_model):
    with pytest.raises(ValueError, match=r"not trained on molecules.*read_vectors\(FILE\)\)"):
        decode_file(tiny_model, tmp_path / "z.parquet", tmp_path / "out.parquet")


@pytest.mark.slow
def test_a_file_of_vectors_gives_graphs_to_the_model_that_made_it_alone(
    tmp_path, tiny_model, coloring_graphs
):
    (tmp_path / "in.jsonl").write_text("".join(f"{text_of(graph)}\n" for graph in coloring_graphs))
    embed(tiny_model, open_rows(tmp_path / "in.jsonl", tiny_model.space), tmp_path / "z.parquet")
    graphs = tiny_model.decode(grale.read_vectors(tmp_path / "z.parquet"))  # as the error advises
    assert graphs == tiny_model.decode(tiny_model.encode(coloring_graphs))
    other = copy.deepcopy(tiny_model)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    with pytest.raises(ValueError, match=r"holds vectors of tiny \(.*\), but the model is"):
        other.decode(grale.read_vectors(tmp_path / "z.parquet"))
