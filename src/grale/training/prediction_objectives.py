"""Training of predictors: inputs to latents (stage 1), or to graphs (stage 2, and rivals)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from grale.codec.graph_predictor import GraphPredictor
from grale.data.packed import PackedGraphs
from grale.graphs.batch import GraphBatch
from grale.model.predictor import GralePredictor
from grale.training.config import TrainConfig
from grale.training.prediction_scores import score_predictions
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


class PredictionObjective(nn.Module):
    """Loss of the graphs that a predictor makes of a batch of inputs."""

    groups_by_size = True
    uses_inputs = True
    save, validate = staticmethod(save), staticmethod(validate)

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__()
        assert isinstance(model, GraphPredictor)  # `TrainConfig` refuses others
        self.model = model

    def forward(
        self,
        node_mask: Bool[Tensor, "B N"],
        node_labels: Int[Tensor, "B N"],
        edge_labels: Int[Tensor, "B N N"],
        noise: Float[Tensor, "B R"],
        properties: Float[Tensor, "B p"] | None = None,
        node_features: Float[Tensor, "B N a"] | None = None,
        edge_features: Float[Tensor, "B N N c"] | None = None,
        inputs: UInt8[Tensor, "B w"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss under "loss", and other values for the log."""
        assert inputs is not None  # a dataset of pairs has them
        directed = self.model.space.directed
        features = node_features, edge_features
        graphs = GraphBatch(node_mask, node_labels, edge_labels, directed, *features)
        return self.model.losses(graphs, inputs, noise)


class RegressionObjective(nn.Module):
    """Stage 1: error of the predicted latents; cached ones come as properties of the graphs."""

    groups_by_size = False
    uses_inputs = True
    save, validate = staticmethod(save), staticmethod(validate)

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__()
        assert isinstance(model, GralePredictor)  # `TrainConfig` refuses others
        self.model = model
        model.autoencoder.requires_grad_(False)

    def forward(
        self,
        node_mask: Bool[Tensor, "B N"],
        node_labels: Int[Tensor, "B N"],
        edge_labels: Int[Tensor, "B N N"],
        noise: Float[Tensor, "B R"],
        properties: Float[Tensor, "B p"] | None = None,
        node_features: Float[Tensor, "B N a"] | None = None,
        edge_features: Float[Tensor, "B N N c"] | None = None,
        inputs: UInt8[Tensor, "B w"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Mean squared error under "loss"; graphs are not used, only their latents."""
        assert inputs is not None  # a dataset of pairs has them
        assert properties is not None  # and this one has latents
        return self.model.regression(properties, inputs, noise)
