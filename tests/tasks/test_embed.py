"""Embedding a file: row by row with a status, the same after kills and on Ray."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import grale.tasks.embed as embedding
from grale.catalog import load
from grale.codec.options import CodecOptions
from grale.data.molecules.files import open_molecules
from grale.data.molecules.folder import open_file_or_folder
from grale.data.samples import sample_graphs
from grale.files import BusyError, locked, whole
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.tasks.decode import decode_file
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.embed_parts import PLAN
from grale.tasks.reconstruct import reconstruct_file

ROWS = ["CCO", "", "c1ccccc1", "xyz", "C" * 11, "CC(=O)O", "CCN", "C", "CC#N", "OCC"]
FAILED = [1, 3, 4]


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.csv").write_text("smiles,n\n" + "".join(f"{s},1\n" for s in ROWS))
    return open_molecules(tmp_path / "in.csv")


def embed(model, source, out, progress=None, **settings):
    config = EmbedConfig(**{"shard_rows": 3, "batch_size": 2} | settings)
    return embed_file(model, "tiny", source, out, config, progress)


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
def test_a_damaged_part_is_named_and_made_again(
    tmp_path, molecule_model, source, monkeypatch, caplog, rng
) -> None:
    embed(molecule_model, source, tmp_path / "whole.parquet")
    out = tmp_path / "z.parquet"
    monkeypatch.setattr(embedding, "finish", lambda *args: None)
    embed(molecule_model, source, out)
    monkeypatch.undo()
    part = tmp_path / "z.parquet.parts" / "part-000001.parquet"
    for _ in range(20):
        content = bytearray(part.read_bytes())
        bit = int(rng.integers(8 * len(content)))
        content[bit // 8] ^= 1 << bit % 8
        part.write_bytes(content)
        assert embedding.finished(part) is None
    assert "part-000001.parquet is damaged: its checksum differs" in caplog.text
    assert embed(molecule_model, source, out) == len(ROWS) - 3  # the others are not made again
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.slow
def test_a_part_that_a_kill_left_half_written_is_removed_and_other_files_stay(
    tmp_path, molecule_model, source
) -> None:
    out, folder = tmp_path / "z.parquet", tmp_path / "z.parquet.parts"
    with whole(folder / "part-000004.parquet") as partial:
        killed = partial.name
    for name in (killed, killed.replace("part-", "_part-"), ".part-mine.part"):
        (folder / name).write_text("half of it")
    (folder / "part-000004.parquet").unlink()
    embed(molecule_model, source, out)
    assert [path.name for path in folder.iterdir()] == [".part-mine.part"]


@pytest.mark.slow
def test_a_vector_that_is_not_finite_is_a_failed_row(
    tmp_path, molecule_model, source, monkeypatch
) -> None:
    def broken(graphs, **options):
        rows = GRALE.encode(molecule_model, graphs, **options)
        rows[[graph.num_nodes == 1 for graph in graphs]] = np.inf
        return rows

    monkeypatch.setattr(molecule_model, "encode", broken, raising=False)
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
def test_files_of_the_users_own_are_left_in_the_folder_of_parts(
    tmp_path, molecule_model, source
) -> None:
    parts = tmp_path / "z.parquet.parts"
    parts.mkdir()
    (parts / "notes.txt").write_text("mine")
    embed(molecule_model, source, tmp_path / "z.parquet")
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_rows_that_fail_are_left_out_or_stop_the_run(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "z.parquet", on_error="skip")
    rows = pq.read_table(tmp_path / "z.parquet").column("row").to_pylist()
    assert rows == [row for row in range(len(ROWS)) if row not in FAILED]
    with pytest.raises(ValueError, match=r"row 1 \(''\): the SMILES string is empty"):
        embed(molecule_model, source, tmp_path / "w.parquet", on_error="raise")
    assert not (tmp_path / "w.parquet").exists()


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_the_same(
    tmp_path, molecule_model, source, monkeypatch
) -> None:
    embed(molecule_model, source, tmp_path / "whole.parquet")
    done: list[object] = []
    run = embedding.embed_shard

    def killed_at_the_third(*args: object) -> object:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(run(*args))
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "embed_shard", killed_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            embed(molecule_model, source, tmp_path / "z.parquet")
    assert not (tmp_path / "z.parquet").exists()
    assert embed(molecule_model, source, tmp_path / "z.parquet") == 6  # two shards of three rows
    assert (tmp_path / "z.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.slow
def test_parts_of_another_job_are_not_taken_up(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "folder")
    with pytest.raises(ValueError, match="parts of another run"):
        embed(molecule_model, source, tmp_path / "folder", shard_rows=4)
    parts = sorted((tmp_path / "folder").glob("part-*.parquet"))
    assert len(parts) == 4  # a folder keeps its shards
    assert pq.read_table(tmp_path / "folder").num_rows == len(ROWS)


@pytest.mark.slow
def test_other_weights_under_the_same_name_are_another_job(
    tmp_path, molecule_model, source
) -> None:
    def stop(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(molecule_model, source, tmp_path / "z.parquet", stop)
    other = copy.deepcopy(molecule_model)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    with pytest.raises(ValueError, match="parts of another run"):
        embed(other, source, tmp_path / "z.parquet")
    assert embed(molecule_model, source, tmp_path / "z.parquet") == 3


@pytest.mark.slow
def test_parts_of_unknown_origin_are_not_taken_up(tmp_path, molecule_model, source) -> None:
    folder = tmp_path / "z"
    embed(molecule_model, source, folder)
    (folder / PLAN).unlink()
    with pytest.raises(ValueError, match="parts of unknown origin"):
        embed(molecule_model, source, folder)


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["", "[" * 100_000, "[1]", "{" + " " * 6_000_000 + "}", "no"])
def test_a_damaged_plan_is_one_sentence_that_says_what_to_do(
    tmp_path, molecule_model, source, plan
) -> None:
    folder = tmp_path / "z"
    embed(molecule_model, source, folder)
    (folder / PLAN).write_text(plan)
    with pytest.raises(ValueError, match=r"_plan\.json .*; remove the folder or choose") as caught:
        embed(molecule_model, source, folder)
    assert len(str(caught.value).splitlines()) == 1


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_ray_that_is_started_here_is_new_and_listens_on_this_machine_alone(monkeypatch) -> None:
    import ray

    from grale.tasks import embed_ray

    asked: list[dict[str, object]] = []
    monkeypatch.setattr(ray, "init", lambda **options: asked.append(options))
    embed_ray._start(None, 2)
    embed_ray._start("10.0.0.1:6379", None)
    started, joined = asked
    assert (started["address"], started["_node_ip_address"]) == ("local", "127.0.0.1")
    assert started["include_dashboard"] is False
    assert joined["address"] == "10.0.0.1:6379"
    assert "_node_ip_address" not in joined


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_ray_cluster_gives_the_same_rows(tmp_path, molecule_model, source) -> None:
    import ray
    from ray.cluster_utils import Cluster

    from grale.tasks.embed_ray import embed_with_ray

    model, out = str(tmp_path / "model"), tmp_path / "ray.parquet"
    molecule_model.save_pretrained(model)
    embed(molecule_model, source, tmp_path / "local.parquet")
    reports: list[object] = []
    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        config = EmbedConfig(shard_rows=3, batch_size=2)
        address = cluster.address
        before = embed_with_ray(model, source, out, config, address, None, reports.append)
        ray.shutdown()
        strict = EmbedConfig(on_error="raise", shard_rows=3, batch_size=2)
        with pytest.raises(ValueError, match=r"^row \d .* null or skip to continue$"):
            embed_with_ray(model, source, tmp_path / "z", strict, address)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert before == 0
    assert sum(report.rows for report in reports) == len(ROWS)
    assert_same_rows(tmp_path / "local.parquet", out)


def assert_same_rows(first: Path, second: Path) -> None:
    one, other = pq.read_table(first), pq.read_table(second)
    assert one.drop(["embedding"]) == other.drop(["embedding"])
    for ours, theirs in zip(
        one.column("embedding").to_pylist(), other.column("embedding").to_pylist(), strict=True
    ):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, atol=1e-5)


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


@pytest.mark.slow
def test_as_many_candidates_are_given_as_asked_for() -> None:
    model = load("molecules@1")
    (best,) = model.decode_candidates(model.encode(["CC(=O)Oc1ccccc1"]), candidates=30, tries=20)
    assert len(set(best)) == len(best) == 30


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


def test_a_model_of_graphs_does_not_decode_to_smiles(tmp_path, tiny_model):
    with pytest.raises(ValueError, match=r"not trained on molecules.*read_vectors"):
        decode_file(tiny_model, tmp_path / "z.parquet", tmp_path / "out.parquet")
