"""Datasets of inputs and graphs: they are written, read and filtered, and overlap is removed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from grale.data.coloring.image import coloring_image
from grale.data.molecules.prepare import prepare
from grale.data.molecules.prepare_parts import PrepareConfig
from grale.data.molecules.sets import open_set
from grale.data.packed import PackedGraphs
from grale.data.pairs import (
    IMAGE_VARIANTS,
    FingerprintConfig,
    first_pairs,
    open_pairs,
    prepare_fingerprints,
    prepare_images,
    stored_pairs,
    without_edge_labels,
)
from grale.data.storage import write_shards
from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import morgan_counts
from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.space import GraphSpace
from prediction_setup import SMILES


def test_images_are_those_of_their_graphs(image_pairs: Path) -> None:
    pairs = first_pairs(image_pairs / "train", 20)
    assert len(pairs) == 20
    variant = IMAGE_VARIANTS["coloring10"]
    image = pairs.inputs[3].reshape(32, 32, 3)
    wanted = coloring_image(variant, seed=0, index=3)
    assert np.abs(image / 255 - wanted).max() <= 0.5 / 255 + 1e-6
    assert variant.min_pixels == 3  # as in Any2Graph
    others = first_pairs(image_pairs / "test", 1).inputs[0]
    assert not (pairs.inputs == others).all(axis=1).any()


def test_inputs_survive_packing_taking_and_joining(image_pairs: Path) -> None:
    (pack,) = stored_pairs(image_pairs / "train")
    some = pack.take(np.array([4, 1]))
    assert np.array_equal(some.inputs, pack.inputs[[4, 1]])
    joined = PackedGraphs.join([some, some])
    assert np.array_equal(joined.inputs, pack.inputs[[4, 1, 4, 1]])
    assert joined.graphs()[2] == pack.graph(4)
    assert open_pairs(image_pairs / "train").inputs.called() == "an RGB image of 32 x 32 pixels"


def test_graphs_without_inputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a finished dataset"):
        open_pairs(tmp_path)
    write_shards(tmp_path, [Graph([0], [])], GraphSpace(max_nodes=2, num_node_labels=1))
    with pytest.raises(ValueError, match="grale prepare images"):
        open_pairs(tmp_path)
    with pytest.raises(ValueError, match="no images are called 'maps'"):
        prepare_images("maps", tmp_path, 5)


@pytest.fixture(scope="module")
def molecules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All molecules to train on; the first four are also held out."""
    folder = tmp_path_factory.mktemp("molecules")
    graphs = [Graph.from_smiles(text) for text in (*SMILES, "CCCl", "CC[Si]")]
    for split, some in (("train", graphs), ("valid", graphs[4:8]), ("test", graphs[:4])):
        write_shards(folder / split, some, molecule_space(10))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bits", "counts"])
def test_fingerprints_are_those_of_the_molecules(molecules: Path, tmp_path: Path, kind) -> None:
    notes = prepare_fingerprints(molecules, tmp_path, FingerprintConfig(kind=kind))
    assert (notes["train"], notes["valid"], notes["test"]) == (14, 4, 4)
    pairs = first_pairs(tmp_path / "train", 99)
    for graph, row in zip(pairs.graphs(), pairs.inputs):
        counts = morgan_counts(graph.to_mol())
        assert np.array_equal(row, counts if kind == "counts" else counts > 0)
    assert (pairs.inputs.max() > 1) == (kind == "counts")


@pytest.mark.slow
def test_only_what_is_asked_for_is_kept(molecules: Path, tmp_path: Path) -> None:
    config = FingerprintConfig(min_atoms=3, max_atoms=3, elements=("C", "N", "O", "S", "Cl"))
    prepare_fingerprints(molecules, tmp_path, config)
    graphs = first_pairs(tmp_path / "train", 99).graphs()
    assert {graph.num_nodes for graph in graphs} == {3}
    assert "CCCl" in [graph.to_smiles() for graph in graphs]
    assert len(graphs) == 6  # not CC[Si]
    few = prepare_fingerprints(molecules, tmp_path, FingerprintConfig(count=2))
    assert few["train"] == 2


def test_held_out_molecules_that_pre_training_saw_are_left_out(
    molecules: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    write_shards(seen / "train", [Graph.from_smiles("OCC")], molecule_space(10))
    config = FingerprintConfig(without=(str(seen),))
    notes = prepare_fingerprints(molecules, tmp_path / "pairs", config)
    assert notes["overlapping"] == 1
    assert (notes["train"], notes["test"]) == (14, 3)
    left = [graph.to_smiles() for graph in first_pairs(tmp_path / "pairs" / "test", 9).graphs()]
    assert "CCO" not in left
    assert json.loads((tmp_path / "pairs" / "pairs.json").read_text()) == notes


def test_rows_in_the_format_of_gdb13_become_pairs(tmp_path: Path) -> None:
    texts = ["CC1CC1N", "OC1CCC1", "CCC(C)Cl", "CSCC=O", "c1ccoc1", "NCC#N"]
    (tmp_path / "gdb13.smi").write_text("\n".join(texts) + "\n")
    rows = open_set("gdb13", tmp_path)
    prepared = prepare(
        [rows], tmp_path / "data", PrepareConfig(max_atoms=13, valid_share=0.3, test_share=0.3)
    )
    assert prepared.rejected == 0
    kept = {split: count for split, count in prepared.kept.items() if count}
    assert sum(kept.values()) == len(texts)
    for split in ("valid", "test"):  # so few rows may all go to one split
        if split not in kept:
            write_shards(tmp_path / "data" / split, [Graph.from_smiles("CC")], molecule_space(13))
    elements = FingerprintConfig(elements=("C", "N", "O", "S", "Cl"))
    notes = prepare_fingerprints(tmp_path / "data", tmp_path / "pairs", elements)
    assert notes["train"] == kept["train"]


def test_labels_of_edges_can_be_dropped() -> None:
    plain = without_edge_labels([Graph.from_smiles("C=CO")])[0]
    assert plain.edge_labels.tolist() == [1, 1]
    assert plain.node_labels.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"kind": "image"}, "expected bits or counts"),
        ({"elements": ("Xx",)}, "no element is called 'Xx'"),
        ({"count": 0}, "at least 1"),
    ],
)
def test_bad_settings_are_refused(settings, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        FingerprintConfig(**settings)
