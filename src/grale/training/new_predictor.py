"""The untrained predictor of a run: its sizes come from the data, GRALE's weights from a model."""

from __future__ import annotations

from pathlib import Path

from grale.catalog import PREDICTORS, load
from grale.codec.graph_predictor import GraphPredictor
from grale.codec.identity import fingerprint
from grale.data.latents import LatentSet, read_latent_set
from grale.data.pairs import open_pairs
from grale.data.sources import GraphSource
from grale.inputs.space import InputSpace
from grale.model.autoencoder import GRALE
from grale.model.predictor import GralePredictor, PredictorSettings
from grale.training.config import TrainConfig


def new_predictor(config: TrainConfig, source: GraphSource) -> GraphPredictor:
    """Make a predictor; GRALE's holds the autoencoder whose latents the dataset names."""
    if config.data.path is None:
        raise ValueError(
            "a predictor is trained on inputs and graphs; make a dataset with "
            "`grale prepare images` or `grale prepare fingerprints`, and give its data.path"
        )
    folder = Path(config.data.path)
    inputs = open_pairs(folder / "train").inputs
    assert inputs is not None  # `open_pairs` refuses others
    if config.architecture == GralePredictor.architecture:
        return _of_grale(config, source, folder, inputs)
    kind = PREDICTORS[config.architecture]
    settings = kind.config_class(
        inputs=inputs, reader=config.reader, config=config.architecture_config
    )
    return kind(source.space, settings)


def _of_grale(
    config: TrainConfig, source: GraphSource, folder: Path, inputs: InputSpace
) -> GralePredictor:
    found = read_latent_set(folder)
    known = source.properties
    if known is None or known.names != found.column_names():
        raise ValueError(f"the latents of {folder} are incomplete; prepare them again")
    autoencoder = autoencoder_named(found)
    if autoencoder.space != source.space:
        raise ValueError(f"{found.model!r} and {folder} hold other graphs; prepare latents again")
    settings = PredictorSettings(
        inputs=inputs, reader=config.reader, autoencoder=autoencoder.config
    )
    model = GralePredictor(source.space, settings)
    model.autoencoder.load_state_dict(autoencoder.state_dict())
    return model


def autoencoder_named(found: LatentSet) -> GRALE:
    """Load the model whose latents a dataset holds, with the weights of then."""
    model = load(found.model)
    if fingerprint(model) != found.weights:
        raise ValueError(
            f"the weights of {found.model!r} have changed since its latents were made; make them "
            "again with `grale prepare latents`"
        )
    return model
