"""Graphs with known edit distances: read as published, and our exact distance agrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from grale.cli.main import app
from grale.data.ged_sets import GRAPHS, PAIRS, read_ged_pairs, read_ged_set
from grale.data.sources import first_graphs
from grale.graphs.graph import Graph
from grale.matching import solve

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"dataset": "AIDS700nef", "split": "train", "gid": number, "n_nodes": 2,
         "labels": ["N", "C"], "edges": [[1, 0]]} for number in range(20)
    ]  # fmt: skip
    rows.append({"dataset": "AIDS700nef", "split": "test", "gid": 50, "n_nodes": 3,
                 "labels": ["C", "O", "C"], "edges": [[0, 1], [1, 2]]})  # fmt: skip
    rows.append({"dataset": "LINUX", "split": "test", "gid": 1, "n_nodes": 2, "labels": None,
                 "edges": [[0, 1]]})  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / GRAPHS)
    pairs = {"gid1": [50], "gid2": [3], "ged": [3]}
    pq.write_table(pa.table(pairs), tmp_path / PAIRS)
    return tmp_path


def test_graphs_and_pairs_are_read(folder: Path) -> None:
    found = read_ged_set(folder)
    assert (len(found.train), len(found.test)) == (20, 1)
    assert found.test[50] == Graph([0, 2, 0], [(0, 1), (1, 2)])
    assert (found.space.max_nodes, found.space.num_node_labels) == (3, 3)
    assert read_ged_set(folder, "LINUX").test[1] == Graph([0, 0], [(0, 1)])
    pairs = read_ged_pairs(folder)
    exact = solve(found.test[pairs.first[0]], found.train[pairs.second[0]], "exact")
    assert exact.edit_distance == pairs.distance[0]
    with pytest.raises(ValueError, match="no graphs of 'MUTAG'"):
        read_ged_set(folder, "MUTAG")


def test_prepare_writes_three_splits(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", "ged", str(folder), str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert len(first_graphs(tmp_path / "out" / "train", 100)) == 18
    assert len(first_graphs(tmp_path / "out" / "valid", 100)) == 2


def test_our_exact_distance_is_the_published_one(shared_data: Path) -> None:
    found, pairs = read_ged_set(shared_data / "graphs"), read_ged_pairs(shared_data / "graphs")
    graphs = found.train | found.test
    for row in np.random.default_rng(0).permutation(len(pairs.first))[:100]:
        pair = graphs[pairs.first[row]], graphs[pairs.second[row]]
        exact = solve(*pair, "exact", time_limit=20.0)
        assert exact.is_optimal
        assert exact.edit_distance == pairs.distance[row]
