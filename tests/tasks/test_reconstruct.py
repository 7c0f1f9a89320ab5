"""Reconstructing a file, with and without refinement and candidates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from grale.catalog import load
from grale.codec.options import CodecOptions
from grale.data.molecules.files import open_molecules
from grale.data.samples import sample_graphs
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.tasks.decode import decode_file
from grale.tasks.embed import EmbedConfig
from grale.tasks.reconstruct import reconstruct_file
from tasks.embedded_rows import FAILED, ROWS, embed


@pytest.mark.slow
def test_refined_embeddings_go_from_file_to_file(tmp_path: Path) -> None:
    model = load("molecules-attention")  # which misses some of them at once
    smiles = [graph.to_smiles() for graph in sample_graphs(model.space, 24, "library", "test")]
    (tmp_path / "in.csv").write_text("smiles\n" + "".join(f"{s}\n" for s in smiles))
    source, z, out = open_molecules(tmp_path / "in.csv"), tmp_path / "z", tmp_path / "out.parquet"
    embed(model, source, z, refine=20, shard_rows=24)
    rows = pq.read_table(z).column("embedding").to_pylist()
    assert not np.allclose(rows, model.encode(smiles), atol=1e-2)
    with pytest.raises(ValueError, match="parts of another run"):
        embed(model, source, z, shard_rows=24)
    once, refined = (
        reconstruct_file(model, source, out, options=CodecOptions(refine_steps=steps))
        for steps in (0, 20)
    )
    assert refined.exact > once.exact
    decode_file(model, z, out, CodecOptions())
    decoded = pq.read_table(out).column("smiles").to_pylist()
    pairs = [(Graph.from_smiles(a), Graph.from_smiles(b)) for a, b in zip(smiles, decoded) if b]
    assert sum(is_isomorphic(*pair) for pair in pairs) == refined.exact
    with pytest.raises(ValueError, match="refine must be at least 0, got -1"):
        EmbedConfig(refine=-1)


def test_reconstruction_says_of_each_row_what_came_back(tmp_path, molecule_model, source) -> None:
    report = reconstruct_file(molecule_model, source, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("entry").to_pylist() == ROWS
    assert report.rows == len(ROWS)
    assert report.failed == len(FAILED)
    distances = table.column("edit_distance").to_pylist()
    assert [row for row, distance in enumerate(distances) if distance is None] == FAILED
    exact = table.column("exact").to_pylist()
    for row, distance in enumerate(distances):
        assert distance is None or (distance == 0) == exact[row]
    assert report.edits == sum(distance or 0 for distance in distances)
    for row, record in enumerate(table.to_pylist()):
        valid = "ok" if record["reconstruction"] else "invalid"
        assert record["status"] == ("failed" if row in FAILED else valid)
        assert (record["reason"] is None) == (record["status"] == "ok")
        assert record["candidates"] is None


@pytest.mark.slow
def test_reconstruction_lists_the_best_valid_molecules_when_asked(tmp_path, source) -> None:
    model = load("molecules@1")
    options = CodecOptions(candidates=3, molecule_tries=10)
    out = tmp_path / "out.parquet"
    reconstruct_file(model, source, out, options=options, lists_candidates=True)
    for record in pq.read_table(tmp_path / "out.parquet").to_pylist():
        if record["status"] == "failed":
            assert record["candidates"] is None
            continue
        best = record["candidates"]
        assert 1 <= len(set(best)) == len(best) <= 3
        assert all(isinstance(Graph.from_smiles(smiles), Graph) for smiles in best)
        if record["reconstruction"]:
            assert best[0] == record["reconstruction"]
