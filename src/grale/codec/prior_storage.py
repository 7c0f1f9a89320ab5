"""The prior of a model on disk, beside it: `prior.safetensors` and `prior.json`, never pickle.

Weights are stored in half precision: a few megabytes.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from grale.codec.outline import check_fits
from grale.codec.storage import MAX_REASON, SHA256, digest_of
from grale.files import read_json, sha256_of, whole, write_whole
from grale.prior.config import PriorSettings
from grale.prior.latent_prior import LatentPrior
from grale.settings.build import SettingsError, build

PRIOR_WEIGHTS, PRIOR_CONFIG = "prior.safetensors", "prior.json"


def has_prior(folder: Path | None) -> bool:
    """Whether a model has a prior beside it."""
    return folder is not None and (folder / PRIOR_CONFIG).is_file()


def save_prior(prior: LatentPrior, folder: Path) -> None:
    """Write a prior into the folder of its model."""
    stored = {name: weight.detach().cpu() for name, weight in prior.state_dict().items()}
    halved = {
        name: (weight.half() if name.startswith("network.") else weight).contiguous()
        for name, weight in stored.items()
    }
    with whole(folder / PRIOR_WEIGHTS) as partial:
        save_file(halved, partial)
    values = json.loads(json.dumps(dataclasses.asdict(prior.settings)))
    values[SHA256] = {"settings": digest_of(values), "weights": sha256_of(folder / PRIOR_WEIGHTS)}
    write_whole(folder / PRIOR_CONFIG, json.dumps(values, indent=2) + "\n")


def load_prior(folder: Path, weights: str) -> LatentPrior:
    """Load the prior of the model whose weights have this fingerprint."""
    values = read_json(folder / PRIOR_CONFIG)
    known = values.pop(SHA256, None) if isinstance(values, dict) else None
    settings = _settings(folder, values)
    if settings.weights != weights:
        raise ValueError(
            f"{folder / PRIOR_CONFIG} belongs to other weights (of {settings.autoencoder[:100]!r}) "
            "than the model beside it; train a prior on the latents of this model"
        )
    check_fits(lambda: LatentPrior(settings), folder / PRIOR_WEIGHTS, {})
    if not isinstance(known, dict) or known.get("settings") != digest_of(values):
        raise ValueError(
            f"{folder / PRIOR_CONFIG} is not as it was saved: its checksum differs; fetch it again"
        )
    if known.get("weights") != sha256_of(folder / PRIOR_WEIGHTS):
        raise ValueError(
            f"{folder / PRIOR_WEIGHTS} is damaged: its checksum differs; fetch it again"
        )
    return _with_weights(settings, folder / PRIOR_WEIGHTS)


def _settings(folder: Path, values: Any) -> PriorSettings:
    try:
        return build(PriorSettings, values)
    except (SettingsError, OverflowError) as error:
        raise SettingsError(f"{folder / PRIOR_CONFIG}: {str(error)[:MAX_REASON]}") from error


def _with_weights(settings: PriorSettings, path: Path) -> LatentPrior:
    weights = {name: weight.float() for name, weight in load_file(path).items()}
    for name, weight in weights.items():
        if not bool(weight.isfinite().all()):
            raise ValueError(f"{path} cannot be used: the weight {name} is not finite")
    with torch.device("cpu"), torch.inference_mode(False):
        prior = LatentPrior(settings)
    prior.load_state_dict(weights, strict=True)
    return prior.requires_grad_(False).eval()
