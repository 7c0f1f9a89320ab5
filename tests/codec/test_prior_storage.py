"""A prior on disk: beside its model, read when used, and refused if anything is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

import grale
from damage import flipped
from grale.codec.prior_storage import PRIOR_CONFIG, PRIOR_WEIGHTS, save_prior
from grale.model.autoencoder import GRALE
from prior.still_prior import still_prior

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(generative_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(generative_folder, tmp_path / "copy"))


def test_a_model_without_a_prior_says_so_and_still_encodes(molecule_model: GRALE) -> None:
    assert not molecule_model.has_prior
    with pytest.raises(ValueError, match="this model has no prior, so it cannot draw new graphs"):
        molecule_model.sample(1)
    assert molecule_model.encode(["CCO"]).shape == (1, molecule_model.latent_dim)


def test_a_stored_prior_draws_what_it_drew_before(tmp_path: Path, generative: GRALE) -> None:
    prior = still_prior(generative)
    torch.nn.init.normal_(prior.network.write.weight, std=0.3)
    generative.use_prior(prior)
    generative.save_pretrained(tmp_path)
    again = grale.load(tmp_path).prior
    noise, told = torch.randn(2, prior.settings.tokens.latent_dim), torch.full((2, 2), 5.0)
    with torch.no_grad():
        before, after = (each.draw(noise, told, steps=2) for each in (prior, again))
    assert torch.allclose(before, after, atol=1e-2 * float(before.abs().max()))
    assert again.settings == prior.settings
    assert torch.equal(again.examples, prior.examples)


def test_the_weights_of_the_prior_are_not_those_of_the_model(generative: GRALE) -> None:
    before = set(generative.state_dict())
    assert generative.prior is generative.prior
    assert set(generative.state_dict()) == before


def test_a_prior_is_read_when_it_is_used(copy: Path) -> None:
    (copy / PRIOR_WEIGHTS).unlink()
    model = grale.load(copy)
    assert model.encode(["CCO"]).shape[0] == 1
    with pytest.raises(FileNotFoundError, match=PRIOR_WEIGHTS):
        model.sample(1)


def test_a_prior_of_other_weights_is_refused(copy: Path) -> None:
    model = grale.load(copy)
    assert model.prior is not None
    with torch.no_grad():
        next(model.parameters()).add_(1e-3)
    model.save_pretrained(copy)  # writes the prior of before beside the new weights
    with pytest.raises(ValueError, match=r"belongs to other weights .* train a prior on"):
        grale.load(copy).sample(1)


def test_a_damaged_prior_is_refused(copy: Path) -> None:
    path = copy / PRIOR_WEIGHTS
    path.write_bytes(flipped(path.read_bytes(), 8 * path.stat().st_size - 40))
    with pytest.raises(ValueError, match="is damaged: its checksum differs"):
        grale.load(copy).sample(1)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("config", {"dim": 1 << 25, "num_heads": 1}, "must be between 1 and"),
        ("config", {"dim": 16, "num_layers": 1, "num_heads": 2}, "does not fit"),
        ("conditions", [{"name": "size"}], "does not fit"),
        ("config", {"dimm": 8}, "did you mean 'dim'"),
        ("autoencoder", "another", "is not as it was saved"),
    ],
)
def test_changed_settings_are_refused(copy: Path, key: str, value, message: str) -> None:
    path = copy / PRIOR_CONFIG
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {key: value}))
    with pytest.raises(ValueError, match=message):
        grale.load(copy).sample(1)


def test_weights_that_are_not_finite_are_refused(copy: Path, generative: GRALE) -> None:
    prior = still_prior(generative)
    prior.mean = torch.full_like(prior.mean, float("nan"))
    save_prior(prior, copy)
    with pytest.raises(ValueError, match="the weight mean is not finite"):
        grale.load(copy).sample(1)


def test_a_prior_of_another_length_cannot_be_used(generative: GRALE, tiny_model: GRALE) -> None:
    with pytest.raises(ValueError, match="latents of 256 numbers, but this model has 16"):
        tiny_model.use_prior(still_prior(generative))
