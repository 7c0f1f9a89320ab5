"""A dataset of one's own graphs: splits without leaks, names kept."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest

import grale
from cli.invoking import invoke
from data.own.own_graphs import labelled_graphs
from grale.data.own.prepare import canonical_keys, split_by_key
from grale.data.sources import first_graphs
from grale.data.storage import read_manifest
from grale.graphs.graph import Graph


def test_a_dataset_keeps_the_names_of_labels(tmp_path: Path) -> None:
    done = grale.prepare(labelled_graphs(10), tmp_path / "mine")
    assert done.rows == {"train": 8, "valid": 1, "test": 1}
    space = read_manifest(tmp_path / "mine" / "train").space
    assert space == done.space
    assert space.attributes is not None
    assert space.attributes.nodes is not None
    assert space.attributes.nodes.values == (("C",), ("N",), ("O",))


def test_equal_graphs_share_a_split_whatever_the_order_of_nodes(rng: np.random.Generator) -> None:
    graphs = [Graph([0, 1, 2], [(0, 1), (1, 2)]), Graph([0, 1, 1], [(0, 1), (1, 2)])]
    moved = [graph.permuted(rng.permutation(3)) for graph in graphs for _ in range(10)]
    keys = canonical_keys(moved)
    assert len(set(keys)) == 2
    assert len(set(keys[:10])) == 1
    split = split_by_key(keys, 0.1, 0.0)
    assert set(split[:10]) != set(split[10:])


def test_splits_named_by_the_graphs_are_used(tmp_path: Path) -> None:
    graphs = labelled_graphs(6)
    for number, graph in enumerate(graphs):
        graph.graph["split"] = ("train", "valid")[number == 4]
    assert grale.prepare(graphs, tmp_path / "mine").rows == {"train": 5, "valid": 1}


def test_too_few_graphs_cannot_be_split(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 distinct graphs cannot be split; give at least 3"):
        grale.prepare(labelled_graphs(2), tmp_path / "mine")


@pytest.mark.slow
def test_the_verb_says_what_the_graphs_carry(tmp_path: Path) -> None:
    for number, graph in enumerate(labelled_graphs(10)):
        networkx.write_graphml(graph, tmp_path / f"{number}.graphml")
    printed = invoke("prepare", "graphs", str(tmp_path), str(tmp_path / "out"))
    assert "node labels (element)" in printed
    assert "edge labels (bond)" in printed
    assert len(first_graphs(tmp_path / "out" / "train", 100)) == 8
