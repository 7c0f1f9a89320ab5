"""Training of predictors: inputs to latents (stage 1), or to graphs (stage 2, and rivals)."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from grale.codec.graph_predictor import GraphPredictor
from grale.data.packed import PackedGraphs
from grale.graphs.batch import GraphBatch
from grale.model.predictor import GralePredictor
from grale.training.config import TrainConfig
from grale.training.prediction_scores import score_predictions
from grale.training.validation import Validation


class Pairs(NamedTuple):
    """A batch of inputs and graphs."""

    graphs: GraphBatch
    inputs: UInt8[Tensor, "B w"]
    noise: Float[Tensor, "B R"]
    latents: Float[Tensor, "B Z"] | None
    """Of the graphs, if the dataset has them."""


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

    @abstractmethod
    def values(self, pairs: Pairs) -> dict[str, Float[Tensor, ""]]:
        """Loss under "loss", and other values for the log."""

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
        """Loss of a batch of inputs and graphs."""
        assert inputs is not None  # a dataset of pairs has them
        features = node_features, edge_features
        directed = self.model.space.directed
        graphs = GraphBatch(node_mask, node_labels, edge_labels, directed, *features)
        return self.values(Pairs(graphs, inputs, noise, properties))


class PredictionObjective(_OfInputs):
    """Loss of the graphs that a predictor makes of a batch of inputs."""

    groups_by_size = True

    def values(self, pairs: Pairs) -> dict[str, Float[Tensor, ""]]:
        """Stage 2, or the loss of a rival."""
        return self.model.losses(pairs.graphs, pairs.inputs, pairs.noise)


class RegressionObjective(_OfInputs):
    """Stage 1: error of the predicted latents; cached ones come as properties of the graphs."""

    groups_by_size = False

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__(model, config)
        assert isinstance(model, GralePredictor)  # `TrainConfig` refuses others
        model.autoencoder.requires_grad_(False)

    def values(self, pairs: Pairs) -> dict[str, Float[Tensor, ""]]:
        """Mean squared error; graphs are not used, only their latents."""
        assert isinstance(self.model, GralePredictor)
        assert pairs.latents is not None  # `new_predictor` has read what they are
        return self.model.regression(pairs.latents, pairs.inputs, pairs.noise)
