"""A prior that needs no training: latents around that of one molecule, spread evenly."""

from __future__ import annotations

import numpy as np
import torch

from grale.codec.identity import fingerprint
from grale.model.autoencoder import GRALE
from grale.prior.config import Condition, PriorConfig, PriorSettings
from grale.prior.latent_prior import LatentPrior
from grale.tasks.latent_cache import token_space

CENTRE = "CCOc1ccccc1"


def still_prior(model: GRALE, centre: object = CENTRE, share: float = 0.55) -> LatentPrior:
    """Its velocity is zero, so that noise stays where it is: `share` of a latent's length away."""
    settings = PriorSettings(
        tokens=token_space(model),
        conditions=(Condition(name="size"), Condition(name="logP")),
        config=PriorConfig(dim=8, num_layers=1, num_heads=2),
        autoencoder="a test",
        weights=fingerprint(model),
    )
    prior = LatentPrior(settings)
    latent = torch.from_numpy(model.encode([centre])[0])
    prior.mean = latent
    prior.scale = share * latent.norm() / len(latent) ** 0.5
    rng = np.random.default_rng(0)
    rows = np.stack([rng.integers(3, 12, 1024), rng.normal(2, 1, 1024)], axis=1)
    prior.examples = torch.from_numpy(rows.astype(np.float32))
    return prior.eval()
