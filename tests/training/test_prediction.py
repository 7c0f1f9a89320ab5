"""Predictors are trained by the same loop: both stages, resumed exactly, saved as models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grale.catalog import load_any, load_predictor
from grale.data.latents import read_latent_set
from grale.data.pairs import first_pairs
from grale.data.sources import DataConfig
from grale.model.autoencoder import GRALE
from grale.settings.files import load_settings
from grale.training.config import TrainConfig
from grale.training.loop import Trainer
from prediction_setup import quick
from training.resuming import assert_resumes_exactly, trained

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stage_1(tmp_path_factory: pytest.TempPathFactory, latent_pairs: Path) -> Path:
    folder = tmp_path_factory.mktemp("stage-1")
    trained(quick("predict", latent_pairs), folder)
    return folder


def test_latents_are_cached_once_beside_their_inputs(latent_pairs: Path) -> None:
    found = read_latent_set(latent_pairs)
    pairs = first_pairs(latent_pairs / "train", 3)
    again = GRALE.from_pretrained(found.model).encode(pairs.graphs())
    assert pairs.properties == pytest.approx(again, abs=1e-5)
    assert pairs.inputs.shape == (3, 3072)


def test_stage_1_learns_phi_and_leaves_the_autoencoder(stage_1: Path, latent_pairs: Path) -> None:
    model = load_predictor(stage_1)
    before = GRALE.from_pretrained(read_latent_set(latent_pairs).model).state_dict()
    now = model.autoencoder.state_dict()
    assert all(torch.equal(before[name], now[name]) for name in before)
    card = (stage_1 / "README.md").read_text()
    assert "Predicts graphs of at most 10 nodes from an RGB image" in card
    assert model.fingerprint in card


def test_stage_2_starts_from_stage_1_and_moves_the_decoder(
    stage_1: Path, latent_pairs: Path, tmp_path: Path
) -> None:
    config = quick("predict-tune", latent_pairs, start_from=str(stage_1))
    still = replace(config, optimizer=replace(config.optimizer, learning_rate=0.0,
                                              muon_learning_rate=0.0))  # fmt: skip
    first = load_predictor(stage_1).state_dict()
    same, _ = trained(still, tmp_path / "still")
    assert all(torch.equal(first[name], same[name]) for name in first)
    tuned, reports = trained(config, tmp_path / "tuned")
    changed = [name for name in tuned if not torch.equal(tuned[name], first[name])]
    moved = {name.split(".")[1] for name in changed if name.startswith("autoencoder.")}
    assert moved == {"decoder"}
    assert set(reports[-1].validation.scores) == {"exact", "edit_distance", "size_right"}
    assert "edge_label" in reports[-1].values


def test_a_resumed_run_equals_one_without_a_break(latent_pairs: Path, tmp_path: Path) -> None:
    config = quick("predict", latent_pairs, log_every=1, max_steps=4)
    straight = assert_resumes_exactly(config, tmp_path, last=3, saved=2)
    other, _ = trained(replace(config, seed=1), tmp_path / "other")
    assert not torch.equal(straight["reader.queries"], other["reader.queries"])


@pytest.mark.parametrize("rival", ["any2graph", "relationformer", "fgwbary"])
def test_rivals_are_trained_by_the_same_loop(rival: str, image_pairs: Path, tmp_path: Path) -> None:
    if rival == "fgwbary":
        pytest.importorskip("ot")
    config = quick(f"predict-{rival}", image_pairs, max_steps=1, batch_size=4, num_validation=1)
    fgwbary = replace(config.fgwbary, num_templates=2, num_rounds=1)
    trained(replace(config, fgwbary=fgwbary), tmp_path)
    model = load_predictor(tmp_path)
    assert model.architecture == rival
    assert model.config.reader == config.reader  # that of GRALE's predictor
    with pytest.raises(ValueError, match=f"is a '{rival}'"):
        load_any(tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (["objective=reconstruct"], "goes with architecture"),
        (["architecture=any2graph"], "has no latents"),
        (["architecture=grale"], "goes with architecture"),
        (["data.augment.share=0.5"], "data.augment changes graphs"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        load_settings(TrainConfig, "predict", changes)


def test_data_that_cannot_be_used_is_named(
    image_pairs: Path, latent_pairs: Path, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="holds no latents.json"):
        Trainer(quick("predict", image_pairs), tmp_path / "a")
    generated = replace(quick("predict-any2graph", image_pairs), data=DataConfig())
    with pytest.raises(ValueError, match="grale prepare images"):
        Trainer(generated, tmp_path / "b")
    with pytest.raises(ValueError, match="which predicts no graphs"):
        load_predictor("coloring-10")
