"""Training of a prior by the same loop: it learns, resumes exactly, and leaves a model behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import grale
from grale.data.latents import read_latent_set
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig
from grale.prior.config import PriorConfig
from grale.settings.files import load_settings
from grale.tasks.latent_cache import CacheConfig, cache_latents
from grale.training.config import TrainConfig
from grale.training.loop import Trainer
from training.resuming import assert_resumes_exactly, trained

pytestmark = pytest.mark.slow

SHAPE = PriorConfig(dim=16, num_layers=1, num_heads=2)


@pytest.fixture(scope="module")
def autoencoder(tmp_path_factory: pytest.TempPathFactory, tiny_config: ModelConfig) -> Path:
    folder = tmp_path_factory.mktemp("autoencoder")
    torch.manual_seed(0)
    space = grale.load("coloring-10").space
    GRALE(space, tiny_config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def latents(tmp_path_factory: pytest.TempPathFactory, autoencoder: Path) -> Path:
    folder = tmp_path_factory.mktemp("latents")
    config = CacheConfig(data="coloring10", count=64, properties=("edges",))
    kept = cache_latents(grale.load(autoencoder), str(autoencoder), folder, config)
    assert kept == {"train": 64, "valid": 1}
    return folder


def _config(latents: Path, **changes) -> TrainConfig:
    config = load_settings(TrainConfig, "prior", [f"data.path={latents}"])
    optimizer = replace(config.optimizer, warmup_steps=1)
    quick = {"batch_size": 16, "max_steps": 6, "num_validation": 1, "prior": SHAPE}
    quick |= {"optimizer": optimizer}
    return replace(config, **{**quick, **changes})


def test_latents_are_cached_with_their_conditions(latents: Path) -> None:
    found = read_latent_set(latents)
    assert [condition.name for condition in found.conditions] == ["size", "edges"]
    assert found.tokens.latent_dim == 16
    assert len(found.column_names()) == 18


def test_a_trained_prior_is_saved_with_its_model(latents: Path, tmp_path: Path) -> None:
    _, reports = trained(_config(latents), tmp_path)
    model = grale.load(tmp_path)
    assert len(model.sample(3, {"size": 7.0}, steps=2)) == 3
    assert model.prior.examples[:, 0].min() >= 5  # nodes of the smallest graph of the data
    scores = reports[-1].validation.scores
    assert set(scores) == {"held_out_loss", "valid", "distinct"}


def test_a_resumed_run_equals_one_without_a_break(latents: Path, tmp_path: Path) -> None:
    config = _config(latents, log_every=1)
    straight = assert_resumes_exactly(config, tmp_path, last=4, saved=4)
    other, _ = trained(replace(config, seed=1), tmp_path / "other")
    assert not torch.equal(straight["network.slots"], other["network.slots"])


def test_the_error_falls(latents: Path, tmp_path: Path) -> None:
    config = _config(latents, max_steps=80, batch_size=32, log_every=5)
    _, reports = trained(config, tmp_path)
    losses = [report.values["loss"] for report in reports]
    assert sum(losses[-4:]) < 0.9 * sum(losses[:4])


def test_flow_and_prior_go_together() -> None:
    with pytest.raises(ValueError, match="objective=flow and architecture=prior go together"):
        TrainConfig(objective="flow")
    with pytest.raises(ValueError, match="objective=flow and architecture=prior go together"):
        TrainConfig(architecture="prior")


def test_a_dataset_without_latents_is_refused(latents: Path, tmp_path: Path) -> None:
    (tmp_path / "train").symlink_to(latents / "train")
    with pytest.raises(FileNotFoundError, match="make a dataset of latents with"):
        Trainer(_config(tmp_path), tmp_path / "run")


def test_changed_weights_are_noticed(
    latents: Path, autoencoder: Path, tmp_path: Path, tiny_config: ModelConfig
) -> None:
    saved = {path.name: path.read_bytes() for path in autoencoder.iterdir() if path.is_file()}
    torch.manual_seed(1)
    GRALE(grale.load(autoencoder).space, tiny_config).save_pretrained(autoencoder)
    try:
        with pytest.raises(ValueError, match="have changed since its latents were made"):
            Trainer(_config(latents), tmp_path)  # before any work
    finally:
        for name, content in saved.items():
            (autoencoder / name).write_bytes(content)


def test_a_prior_starts_from_the_prior_of_a_model(latents: Path, tmp_path: Path) -> None:
    first, _ = trained(_config(latents), tmp_path / "first")
    config = _config(latents, start_from=str(tmp_path / "first"), seed=1)
    again = Trainer(config, tmp_path / "second").model.state_dict()
    other = Trainer(replace(config, start_from=None), tmp_path / "third").model.state_dict()
    name = "network.read.weight"
    assert torch.allclose(first[name], again[name], atol=1e-3)  # stored in half precision
    assert not torch.allclose(first[name], other[name], atol=1e-3)
