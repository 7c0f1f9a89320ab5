"""The table of graph prediction runs to its end, is not repeated, and says what it leaves out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grale.data.latents import read_latent_set
from grale.experiments.figures import prediction as figure
from grale.experiments.picture import PictureConfig
from grale.experiments.request import Request
from grale.experiments.tables import prediction
from grale.graphs.space import GraphSpace
from grale.model.config import ModelConfig
from grale.model.predictor import GralePredictor, PredictorSettings
from prediction_setup import IMAGE, READER

pytestmark = pytest.mark.slow


@pytest.fixture
def one_task(latent_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COLORING 10 alone, with the latents of a small autoencoder."""
    autoencoder = read_latent_set(latent_pairs).model
    task = prediction.TASKS[0]._replace(autoencoders=(autoencoder,))
    monkeypatch.setattr(prediction, "TASKS", (task, prediction.TASKS[2]))


def test_the_table_has_all_rows_and_finished_models_stay(
    one_task: None, image_pairs: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ot")
    shutil.copytree(image_pairs, tmp_path / "data" / "coloring10")
    names: list[str] = []
    request = Request(
        scale="smoke", folder=tmp_path, data=str(tmp_path / "data"), on_model=names.append
    )
    (table,) = prediction.make(request)
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == [
        "GRALE (autoencoder)", "GRALE + fine-tuning (autoencoder)", "Any2Graph", "Relationformer",
        "FGWBary (templates)", "FGWBary (kernel)",
    ]  # fmt: skip
    assert rows["Any2Graph"][-1] == "0.19, 84.44 %"
    assert rows["GRALE + fine-tuning (autoencoder)"][-1] == "0.27, 90.04 %"
    assert rows["FGWBary (kernel)"][4] == "-"  # it has to be told the size
    assert all(len(row) == len(table.header) for row in table.rows)
    assert any("QM9" in name and "left out" in name for name in names)
    assert "drawn" in table.caption
    before = sorted(tmp_path.rglob("scores-*.json"))
    stamps = [file.stat().st_mtime_ns for file in before]
    assert len(before) == 6
    prediction.make(request)
    assert [file.stat().st_mtime_ns for file in before] == stamps


def test_images_are_drawn_if_they_are_not_there(
    one_task: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple] = []
    monkeypatch.setattr(prediction, "prepare_images", lambda *args: drawn.append(args))
    found = prediction.stages(Request(scale="smoke", folder=tmp_path))
    assert [stage.task.name for stage in found] == ["coloring10"]
    assert drawn[0][0] == "coloring10"
    assert drawn[0][2] == 64


def test_the_figure_shows_images_graphs_and_predictions(
    image_pairs: Path, tiny_config: ModelConfig
) -> None:
    settings = PredictorSettings(inputs=IMAGE, reader=READER, autoencoder=tiny_config)
    model = GralePredictor(GraphSpace(max_nodes=10, num_node_labels=4), settings)
    config = PictureConfig(data=str(image_pairs), count=1)
    (picture,) = figure.make(model, config)
    assert len(picture.figure.axes) == 3
    assert "0.0 % are exact" in picture.caption
    with pytest.raises(ValueError, match="needs --data"):
        figure.make(model, PictureConfig(count=1))
