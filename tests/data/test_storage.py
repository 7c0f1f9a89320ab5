"""Shards give back what was written, and damage is found and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from grale.data.sources import DataConfig, open_source
from grale.data.storage import (
    MANIFEST,
    BadShardError,
    check_shard,
    read_manifest,
    read_shard,
    write_shards,
)
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace


@pytest.fixture
def dataset(tmp_path: Path, coloring_graphs: list[Graph]) -> Path:
    space = GraphSpace(max_nodes=10, num_node_labels=4)
    write_shards(tmp_path / "train", coloring_graphs, space, shard_rows=4)
    write_shards(tmp_path / "valid", coloring_graphs[:3], space, shard_rows=2)
    return tmp_path


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def test_reading_gives_back_what_was_written(dataset: Path, coloring_graphs: list[Graph]) -> None:
    folder = dataset / "train"
    manifest = read_manifest(folder)
    graphs = [g for s in manifest.shards for g in read_shard(folder, s, False).graphs()]
    assert graphs == coloring_graphs
    assert manifest.rows == len(coloring_graphs)


def test_graphs_without_edges_survive(tmp_path: Path) -> None:
    graphs = [Graph([0]), Graph([0, 1, 2]), Graph([1, 0], [(0, 1)])]
    manifest = write_shards(tmp_path, graphs, GraphSpace(max_nodes=3, num_node_labels=3))
    assert read_shard(tmp_path, manifest.shards[0], False).graphs() == graphs


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_shard_is_named(dataset: Path, damage: str) -> None:
    shard = read_manifest(dataset / "train").shards[1]
    path = dataset / "train" / shard.file
    if damage == "flip":
        _flip_a_byte(path)
    elif damage == "truncate":
        path.write_bytes(path.read_bytes()[:-10])
    else:
        path.unlink()
    with pytest.raises(BadShardError, match="graphs-00001"):
        check_shard(dataset / "train", shard)
    with pytest.raises(BadShardError, match="graphs-00001"):
        open_source(DataConfig(source="shards", path=str(dataset)))


def test_a_damaged_shard_may_be_left_out_by_name(
    dataset: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _flip_a_byte(dataset / "train" / "graphs-00002.parquet")
    config = DataConfig(source="shards", path=str(dataset), on_bad_shard="skip")
    source = open_source(config)
    assert "graphs-00002" in caplog.text
    assert sum(source.pool_rows(n) for n in range(source.pools_per_epoch)) == 12


def test_an_epoch_of_pools_holds_every_graph_once(
    dataset: Path, coloring_graphs: list[Graph]
) -> None:
    source = open_source(DataConfig(source="shards", path=str(dataset), shards_per_pool=2))
    for epoch in range(2):
        numbers = range(epoch * 2, epoch * 2 + 2)
        graphs = [g for n in numbers for g in source.pool(n).graphs()]
        assert sorted(map(hash, graphs)) == sorted(map(hash, coloring_graphs))
    assert source.held_out(2, start=1) == coloring_graphs[1:3]


def test_a_damaged_shard_of_the_held_out_graphs_is_named_and_fatal_or_left_out(dataset, caplog):
    _flip_a_byte(dataset / "valid" / "graphs-00000.parquet")  # two of three graphs
    with pytest.raises(BadShardError, match="graphs-00000"):
        open_source(DataConfig(source="shards", path=str(dataset))).held_out(2)
    config = DataConfig(source="shards", path=str(dataset), on_bad_shard="skip")
    assert len(open_source(config).held_out(3)) == 1
    assert "graphs-00000" in caplog.text


def test_a_graph_outside_the_space_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="graph 1 has label 9"):
        write_shards(tmp_path, [Graph([0]), Graph([9])], GraphSpace(max_nodes=3, num_node_labels=2))
    assert not (tmp_path / MANIFEST).exists()


def test_an_unfinished_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a finished dataset"):
        read_manifest(tmp_path)


def test_path_and_source_must_go_together() -> None:
    with pytest.raises(ValueError, match="path=None"):
        DataConfig(source="shards")
    with pytest.raises(ValueError, match="path='x'"):
        DataConfig(source="coloring10", path="x")


def test_only_the_first_graphs_are_trained_on(dataset, coloring_graphs):
    config = DataConfig(source="shards", path=str(dataset), max_graphs=6, shards_per_pool=9)
    source = open_source(config)
    assert source.pool_rows(0) == len(source.pool(0)) == 6
    used = source.pool(0).graphs()
    assert all(graph in used for graph in coloring_graphs[:6])
    with pytest.raises(ValueError, match="max_graphs must be at least 1"):
        DataConfig(source="shards", path=str(dataset), max_graphs=0)
    with pytest.raises(ValueError, match="use num_graphs for coloring10"):
        DataConfig(source="coloring10", max_graphs=5)
