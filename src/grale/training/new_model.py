"""The untrained model of a run, made for its architecture and its data."""

from __future__ import annotations

from dataclasses import replace

from grale.catalog import ARCHITECTURES
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.sources import GraphSource
from grale.model.autoencoder import GRALE
from grale.training.config import TrainConfig


def new_model(config: TrainConfig, source: GraphSource) -> GraphAutoencoder:
    """Make an untrained model; sizes that depend on the data are taken from it."""
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
