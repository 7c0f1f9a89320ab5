"""`predict_file`: a row for every input, with a status, a reason, and scores where possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.space import GraphSpace
from grale.inputs.space import InputSpace
from grale.model.config import ModelConfig
from grale.model.predictor import GralePredictor, PredictorSettings
from grale.tasks.predict import PredictConfig, PredictReport, predict_file
from prediction_setup import BITS, IMAGE, READER, SMILES, random_rows, write_molecule_pairs


def _predictor(space: GraphSpace, inputs: InputSpace, config: ModelConfig) -> GralePredictor:
    torch.manual_seed(0)
    settings = PredictorSettings(inputs=inputs, reader=READER, autoencoder=config)
    return GralePredictor(space, settings).eval()


@pytest.fixture
def of_images(tiny_config: ModelConfig) -> GralePredictor:
    return _predictor(GraphSpace(max_nodes=10, num_node_labels=4), IMAGE, tiny_config)


@pytest.fixture
def of_molecules(tiny_config: ModelConfig) -> GralePredictor:
    return _predictor(molecule_space(10), BITS, tiny_config)


@pytest.mark.slow
def test_every_file_of_a_folder_has_its_row(of_images: GralePredictor, tmp_path: Path) -> None:
    pixels = random_rows(IMAGE, 2).reshape(2, 32, 32, 3)
    folder = tmp_path / "in"
    folder.mkdir()
    Image.fromarray(pixels[0]).save(folder / "a.png")
    (folder / "b.png").write_bytes(b"damaged")
    np.save(folder / "c.npy", pixels[1])
    report = predict_file(of_images, folder, tmp_path / "out.parquet", PredictConfig(candidates=2))
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["name"] for row in rows] == ["a.png", "b.png", "c.npy"]
    assert [row["status"] for row in rows] == ["ok", "error", "ok"]
    assert "the input cannot be read as a picture" in rows[1]["reason"]
    likeliest = of_images.predict(pixels)
    assert rows[0]["node_labels"] == likeliest[0].node_labels.tolist()
    assert rows[2]["edges"] == likeliest[1].edges.tolist()
    assert len(rows[0]["candidates"]) == 2
    assert (report.rows, report.failed, report.known) == (3, 1, 0)
    assert b"grale" in pq.read_schema(tmp_path / "out.parquet").metadata


@pytest.mark.slow
def test_a_split_of_pairs_is_scored(
    of_images: GralePredictor, image_pairs: Path, tmp_path: Path
) -> None:
    report = predict_file(of_images, image_pairs / "test", tmp_path / "out.parquet")
    (row,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert report.known == 1
    assert row["exact"] is (row["edit_distance"] == 0)


@pytest.mark.slow
def test_smiles_become_fingerprints_and_bad_ones_reasons(
    of_molecules: GralePredictor, tmp_path: Path
) -> None:
    entries = [*SMILES[:2], "not a molecule", "C" * 11]
    (tmp_path / "in.csv").write_text("smiles\n" + "\n".join(entries) + "\n")
    predict_file(of_molecules, tmp_path / "in.csv", tmp_path / "out.parquet")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["name"] for row in rows] == entries
    assert [row["status"] != "error" for row in rows] == [True, True, False, False]
    assert "parse" in rows[2]["reason"]
    assert "11 nodes" in rows[3]["reason"]
    assert all(row["exact"] is not None for row in rows[:2])
    assert of_molecules.predict(SMILES[:2]) == of_molecules.predict(
        np.stack([np.load(path) for path in _saved(tmp_path, of_molecules)])
    )


def _saved(folder: Path, model: GralePredictor) -> list[Path]:
    """The same fingerprints as arrays."""
    from rdkit import Chem

    from grale.graphs.molecules.fingerprints import morgan_counts

    paths = []
    for number, text in enumerate(SMILES[:2]):
        counts = morgan_counts(Chem.MolFromSmiles(text), model.inputs.size)
        np.save(folder / f"{number}.npy", counts > 0)
        paths.append(folder / f"{number}.npy")
    return paths


def test_rows_that_failed_are_not_counted_as_predictions() -> None:
    report = PredictReport(rows=5, failed=1, seconds=2.0)
    assert report.graphs_per_second == 2.0
    assert report.graphs_per_second != PredictReport(rows=5, seconds=2.0).graphs_per_second


def test_a_fingerprint_of_another_length_is_a_reason(
    of_molecules: GralePredictor, tmp_path: Path
) -> None:
    np.save(tmp_path / "in.npy", np.zeros((2, 2048), dtype=np.uint8))
    report = predict_file(of_molecules, tmp_path / "in.npy", tmp_path / "out.parquet")
    assert report.failed == report.rows == 1
    assert "(n, 64)" in pq.read_table(tmp_path / "out.parquet").to_pylist()[0]["reason"]


@pytest.mark.slow
def test_targets_that_are_too_large_are_named_and_the_rest_go_on(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    small = _predictor(molecule_space(3), BITS, tiny_config)
    pairs = write_molecule_pairs(tmp_path / "pairs")
    report = predict_file(small, pairs / "test", tmp_path / "out.parquet")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (report.rows, report.failed) == (4, 2)
    assert "the target has 6 nodes, but max_nodes=3" in rows[2]["reason"]
    assert rows[3]["status"] != "error"


def test_what_is_no_input_of_the_model_is_refused_at_once(
    of_images: GralePredictor, of_molecules: GralePredictor, image_pairs: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text("smiles\nCCO\n")
    out = tmp_path / "out.parquet"
    for model, source, reason in (
        (of_images, tmp_path / "in.csv", "holds no images"),
        (of_molecules, image_pairs / "test", "holds an RGB image of 32 x 32 pixels per row"),
    ):
        with pytest.raises(ValueError, match=reason):
            predict_file(model, source, out)
    with pytest.raises(FileNotFoundError, match="is not there"):
        predict_file(of_images, tmp_path / "none", out)
    assert not out.exists()
