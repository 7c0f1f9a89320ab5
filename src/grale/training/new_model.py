"""The untrained model of a run, made for its architecture and its data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grale.catalog import ARCHITECTURES, PREDICTORS
from grale.data.latents import first_conditions, read_latent_set
from grale.data.sources import GraphSource
from grale.model.autoencoder import GRALE
from grale.prior.config import PriorSettings
from grale.prior.latent_prior import EXAMPLES, LatentPrior
from grale.training.config import TrainConfig
from grale.training.new_predictor import new_predictor


def new_model(config: TrainConfig, source: GraphSource) -> Any:
    """Make an untrained autoencoder, prior or predictor; sizes come from the data."""
    if config.architecture == LatentPrior.architecture:
        return new_prior(config, source)
    if config.architecture in PREDICTORS:
        return new_predictor(config, source)
    if config.architecture != GRALE.architecture or not config.model.description.properties:
        kind = ARCHITECTURES[config.architecture]
        return kind(source.space, config.architecture_config)
    known = source.properties
    if known is None:
        raise ValueError(
            "model.description.properties needs a dataset with properties; "
            "prepare it with --descriptors, or set the weight to 0"
        )
    description = replace(config.model.description, property_names=known.names)
    model = GRALE(source.space, replace(config.model, description=description))
    model.heads.set_spread(known.means, known.deviations)
    return model


def new_prior(config: TrainConfig, source: GraphSource) -> LatentPrior:
    """Make an untrained prior of the model whose latents the dataset holds."""
    if config.data.path is None:
        raise ValueError("a prior is trained on latents; make them with `grale prepare latents`")
    found = read_latent_set(Path(config.data.path))
    known, size = source.properties, found.tokens.latent_dim
    if known is None or known.names != found.column_names():
        raise ValueError(f"the latents of {config.data.path} are incomplete; prepare them again")
    settings = PriorSettings(
        tokens=found.tokens,
        conditions=found.conditions,
        config=config.prior,
        autoencoder=found.model,
        weights=found.weights,
    )
    prior = LatentPrior(settings)
    means, deviations = torch.tensor(known.means), torch.tensor(known.deviations)
    if not found.tokens.on_sphere:
        prior.mean = means[:size]
        prior.scale = deviations[:size].square().mean().sqrt()
    prior.condition_mean, prior.condition_scale = means[size:], deviations[size:]
    rows = first_conditions(Path(config.data.path), EXAMPLES)
    prior.examples = torch.from_numpy(np.resize(rows, prior.examples.shape))
    return prior
