"""Preparing a dataset: nothing is lost, nothing twice, the same whatever the workers or kills."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import grale.data.molecules.prepare as preparing
from damage import flipped
from grale.data.batching import batches_from
from grale.data.molecules.files import open_molecules
from grale.data.molecules.pool import open_pool
from grale.data.molecules.prepare import PrepareConfig, prepare
from grale.data.sources import DataConfig, open_source
from grale.data.storage import read_manifest, read_shard
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import canonical_key

CHAINS = ["C" * n for n in range(1, 9)] + ["C" * n + "O" for n in range(1, 9)]
RINGS = ["c1ccccc1", "c1ccncc1", "C1CC1", "OC1CC1", "c1cc[nH]c1"]
SAME = ["OCC", "C(C)O", "[O-]CC"]  # three ways to write CCO, as a graph
BAD = ["", "not a molecule", "*CC", "C" * 40]
ROWS = CHAINS + RINGS + SAME + BAD


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.csv").write_text("smiles\n" + "".join(f'"{s}"\n' for s in ROWS))
    return open_molecules(tmp_path / "in.csv")


def contents(folder: Path) -> dict[str, list[str]]:
    found = {}
    for split in ("train", "valid", "test"):
        if (folder / split).is_dir():
            manifest = read_manifest(folder / split)
            parts = [read_shard(folder / split, shard, False) for shard in manifest.shards]
            found[split] = [canonical_key(g) for part in parts for g in part.graphs()]
    return found


CONFIG = PrepareConfig(max_atoms=16, valid_share=0.2, test_share=0.2, shard_rows=4)


@pytest.mark.slow
def test_each_graph_is_kept_once_and_each_bad_row_has_its_reason(tmp_path, source) -> None:
    result = prepare([source], tmp_path / "out", CONFIG)
    assert result.rows == len(ROWS)
    assert result.rejected == len(BAD)
    assert result.duplicates == len(SAME)
    found = contents(tmp_path / "out")
    everything = [key for keys in found.values() for key in keys]
    assert sorted(everything) == sorted(
        {canonical_key(Graph.from_smiles(s)) for s in CHAINS + RINGS}
    )
    rejected = pq.read_table(tmp_path / "out" / "rejected.parquet").to_pylist()
    assert [ROWS[record["row"]] for record in rejected] == BAD
    assert len({record["reason"] for record in rejected}) == len(BAD)
    assert json.loads((tmp_path / "out" / "prepared.json").read_text())["rows"] == len(ROWS)
    assert not (tmp_path / "out" / "unfinished").exists()
    manifest = read_manifest(tmp_path / "out" / "train")
    assert all(shard.rows == 4 for shard in manifest.shards[:-1])


@pytest.mark.slow
def test_workers_chunks_and_other_rows_move_no_graph(tmp_path, source, monkeypatch) -> None:
    prepare([source], tmp_path / "one", CONFIG)
    monkeypatch.setattr(preparing, "CHUNK_ROWS", 5)
    monkeypatch.setattr(preparing, "SLICE_ROWS", 7)
    config = PrepareConfig(
        max_atoms=16, valid_share=0.2, test_share=0.2, shard_rows=4, num_workers=2
    )
    prepare([source], tmp_path / "two", config)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.slow
def test_a_killed_run_goes_on_with_what_it_had(tmp_path, source, monkeypatch) -> None:
    prepare([source], tmp_path / "whole", CONFIG)
    monkeypatch.setattr(preparing, "CHUNK_ROWS", 5)

    def killed(*args: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_write_split", killed)
        with pytest.raises(KeyboardInterrupt):
            prepare([source], tmp_path / "out", CONFIG)
    parts = sorted((tmp_path / "out" / "unfinished").glob("part-*.parquet"))
    assert len(parts) == -(-len(ROWS) // 5)
    parts[1].unlink()
    (parts[1].with_name(parts[1].name + ".tmp")).write_bytes(b"half")
    times = [part.stat().st_mtime_ns for part in parts if part.exists()]
    seen: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(preparing.shutil, "rmtree", lambda folder: None)
        prepare([source], tmp_path / "out", CONFIG, progress=seen.append)
    kept = [part.stat().st_mtime_ns for place, part in enumerate(parts) if place != 1]
    assert kept == times  # finished parts were not parsed again
    assert sum(seen) == len(ROWS)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_an_unfinished_run_of_something_else_is_not_taken_up(tmp_path, source) -> None:
    work = tmp_path / "out" / "unfinished"
    work.mkdir(parents=True)
    (work / "plan.json").write_text("{}")
    (work / "part-000000.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match="unfinished preparation of other files"):
        prepare([source], tmp_path / "out", CONFIG)


def test_a_file_without_a_single_molecule_is_an_error(tmp_path) -> None:
    (tmp_path / "in.smi").write_text("nothing\nhere\n")
    with pytest.raises(ValueError, match="2 of 2 rows were rejected"):
        prepare([open_molecules(tmp_path / "in.smi")], tmp_path / "out", CONFIG)
    (tmp_path / "in.smi").write_text("CC\nCCO\nCCC\n")  # mended, it is not in its own way
    prepare([open_molecules(tmp_path / "in.smi")], tmp_path / "out", CONFIG)


@pytest.mark.slow
def test_a_split_of_an_earlier_run_does_not_stay_beside_the_new_ones(tmp_path, source) -> None:
    out = tmp_path / "out"
    prepare([source], out, CONFIG)
    assert set(contents(out)) == {"train", "valid", "test"}
    (out / "test" / "notes.txt").write_text("the user's own")
    alone = PrepareConfig(max_atoms=16, valid_share=0.0, test_share=0.0, shard_rows=4)
    assert prepare([source], out, alone).kept["valid"] == 0
    assert not (out / "valid").exists()
    assert [file.name for file in (out / "test").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_a_run_that_keeps_nothing_leaves_the_earlier_dataset(tmp_path, source) -> None:
    prepare([source], tmp_path / "out", CONFIG)
    before = contents(tmp_path / "out")
    (tmp_path / "in.smi").write_text("nothing\n")
    with pytest.raises(ValueError, match="there are no molecules to train on"):
        prepare([open_molecules(tmp_path / "in.smi")], tmp_path / "out", CONFIG)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("values", [{"max_atoms": 0}, {"valid_share": 0.6, "test_share": 0.5}])
def test_settings_that_make_no_sense_are_refused(values) -> None:
    with pytest.raises(ValueError, match="must be"):
        PrepareConfig(**values)


@pytest.mark.slow
def test_the_pool_keeps_its_split_and_leaves_the_benchmarks_out(tmp_path) -> None:
    table = pa.table({
        "smiles": ["CCCCC", "CCCCN", "CCCCO", "CCCCCC", "CCCCS", "O"],
        "n_atoms": [5, 5, 5, 6, 5, 1],
        "common": [True] * 6,
        "bench": [False, False, True, False, False, True],
        "source": ["zinc", "zinc", "zinc", "zinc", "qm9", "qm9"],
        "split": ["train", "valid", "train", "train", "train", "train"],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "pool-00.parquet")
    pq.write_table(
        table.filter(pa.compute.greater(table["n_atoms"], 5)), tmp_path / "pool-1.parquet"
    )
    sources = open_pool(tmp_path, max_atoms=5)
    assert len(sources) == 2  # the second file holds nothing small enough; tiny molecules
    prepare(sources, tmp_path / "out", PrepareConfig(max_atoms=5))
    found = contents(tmp_path / "out")
    assert found["valid"] == [canonical_key(Graph.from_smiles("CCCCN"))]
    kept = {canonical_key(Graph.from_smiles(text)) for text in ("CCCCC", "O", "Cl", "[Na+].[Cl-]")}
    left_out = {canonical_key(Graph.from_smiles(text)) for text in ("CCCCO", "CCCCS", "CCCCN")}
    assert kept <= set(found["train"])
    assert not left_out & set(found["train"])
    with pytest.raises(FileNotFoundError, match="holds no pool"):
        open_pool(tmp_path / "out", 4)
    pq.write_table(pa.table({"smiles": ["C"]}), tmp_path / "pool-2.parquet")
    with pytest.raises(ValueError, match="lacks the columns"):
        open_pool(tmp_path, 4)


def test_a_share_thins_out_common_training_molecules_alone(tmp_path) -> None:
    chains = ["C" * length for length in range(2, 34)]
    table = pa.table({
        "smiles": [*chains, "CCCCC[Sn]", "CCCCCCF"],
        "n_atoms": [*map(len, chains), 6, 7],
        "common": [True] * 32 + [False, True],
        "bench": [False] * 34,
        "source": ["zinc"] * 34,
        "split": ["train"] * 33 + ["test"],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "pool-00.parquet")
    pool, _ = open_pool(tmp_path, 40, share=0.3)
    kept = [entry for chunk in pool.rows(10) for entry in chunk.entries]
    assert {"CC", "CCC", "CCCC", "CCCCC[Sn]", "CCCCCCF"} <= set(kept)
    assert 5 < len(kept) < 25
    assert kept == [entry for chunk in pool.rows(100) for entry in chunk.entries]


@pytest.mark.slow
def test_descriptors_are_stored_beside_the_graphs(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("smiles\n" + "\n".join("C" * n for n in range(1, 9)))
    config = PrepareConfig(max_atoms=8, valid_share=0.0, test_share=0.0, descriptors=True)
    prepare([open_molecules(tmp_path / "in.csv")], tmp_path / "out", config)
    manifest = read_manifest(tmp_path / "out" / "train")
    assert manifest.properties is not None
    place = manifest.properties.names.index("MolWt")
    packed = read_shard(tmp_path / "out" / "train", manifest.shards[0], directed=False)
    weights = packed.properties[:, place]
    assert weights == pytest.approx(14.027 * packed.num_nodes + 2.016, rel=1e-3)
    assert manifest.properties.means[place] == pytest.approx(weights.mean(), rel=1e-5)
    assert manifest.properties.deviations[place] == pytest.approx(weights.std(), rel=1e-4)
    assert not {"MolLogP", "TPSA", "qed"} & set(manifest.properties.names)
    source = open_source(DataConfig(source="shards", path=str(tmp_path / "out")))
    batch = next(batches_from(source, 4, seed=0, step=0))
    sizes = batch.graphs.num_nodes.numpy()
    assert batch.properties[:, place].numpy() == pytest.approx(14.027 * sizes + 2.016, rel=1e-3)


def test_a_graph_that_comes_again_in_another_split_stays_in_its_first(tmp_path) -> None:
    table = pa.table({
        "smiles": ["CC(=O)[O-]", "CCC", "CC(=O)O"],
        "n_atoms": [4, 3, 4],
        "common": [True] * 3,
        "bench": [False] * 3,
        "source": ["zinc"] * 3,
        "split": ["test", "train", "train"],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "pool-00.parquet")
    pool, _ = open_pool(tmp_path, 4)
    result = prepare([pool], tmp_path / "out", PrepareConfig(max_atoms=4))
    assert result.kept == {"train": 1, "valid": 0, "test": 1}
    assert result.duplicates == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["part-000001.parquet", "part-000001.rejected"])
def test_a_damaged_part_of_an_unfinished_run_is_made_again(
    tmp_path, source, monkeypatch, caplog, rng, kind
) -> None:
    monkeypatch.setattr(preparing, "CHUNK_ROWS", 20)  # the second part has all bad rows
    prepare([source], tmp_path / "whole", CONFIG)
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_write_split", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepare([source], tmp_path / "out", CONFIG)
    part = tmp_path / "out" / "unfinished" / kind
    part.write_bytes(flipped(part.read_bytes(), int(rng.integers(8 * part.stat().st_size))))
    assert prepare([source], tmp_path / "out", CONFIG).rows == len(ROWS)
    assert "part-000001.parquet is damaged: its checksum differs" in caplog.text
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    rejected = [tmp_path / name / "rejected.parquet" for name in ("out", "whole")]
    assert rejected[0].read_bytes() == rejected[1].read_bytes()
