"""Training of predictors: inputs to latents (stage 1), or to graphs (stage 2, and rivals)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from grale.codec.graph_predictor import GraphPredictor
from grale.data.packed import PackedGraphs
from grale.model.predictor import GralePredictor
from grale.training.config import TrainConfig
from grale.training.prediction_scores import score_predictions
from grale.training.step_input import StepInput
from grale.training.validation import Validation


def save(model: Any, folder: Path) -> None:
    """Write the trained predictor, a model of its own."""
    model.save_pretrained(folder)


def validate(model: Any, pairs: PackedGraphs) -> Validation:
    """Predict the graphs of held-out inputs."""
    found = score_predictions(model, pairs).report()
    return Validation(
        {
            "exact": found.accuracy,
            "edit_distance": found.edit_distance,
            "size_right": found.size_accuracy,
        },
        f"{found.accuracy:.1%} of {found.num_targets} held-out graphs predicted exactly, edit "
        f"distance <= {found.edit_distance:.2f}, size right {found.size_accuracy:.1%}",
    )


class _OfInputs(nn.Module):
    """What a run minimises when its batches have inputs."""

    uses_inputs = True
    save, validate = staticmethod(save), staticmethod(validate)

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__()
        assert isinstance(model, GraphPredictor)  # `TrainConfig` refuses others
        self.model = model


class PredictionObjective(_OfInputs):
    """Loss of the graphs that a predictor makes of a batch of inputs."""

    groups_by_size = True

    def forward(self, step: StepInput) -> dict[str, Float[Tensor, ""]]:
        """Stage 2, or the loss of a rival."""
        assert step.inputs is not None  # a dataset of pairs has them
        return self.model.losses(step.graphs(self.model.space.directed), step.inputs, step.noise)


class RegressionObjective(_OfInputs):
    """Stage 1: error of the predicted latents; cached ones come as properties of the graphs."""

    groups_by_size = False

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__(model, config)
        assert isinstance(model, GralePredictor)  # `TrainConfig` refuses others
        model.autoencoder.requires_grad_(False)

    def forward(self, step: StepInput) -> dict[str, Float[Tensor, ""]]:
        """Mean squared error; graphs are not used, only their latents."""
        assert isinstance(self.model, GralePredictor)
        assert step.inputs is not None  # a dataset of pairs has them
        assert step.properties is not None  # `new_predictor` has read what they are
        return self.model.regression(step.properties, step.inputs, step.noise)
