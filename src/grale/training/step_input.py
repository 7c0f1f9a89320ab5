"""What an objective is given at a step: a named tuple of tensors, which DDP and autocast enter."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from grale.data.batching import TrainingBatch
from grale.graphs.batch import GraphBatch


class StepInput(NamedTuple):
    """The part of one process in a step, on its device."""

    node_mask: Bool[Tensor, "B N"]
    node_labels: Int[Tensor, "B N"]
    edge_labels: Int[Tensor, "B N N"]
    noise: Float[Tensor, "B ..."]
    """As the model draws it."""
    properties: Float[Tensor, "B p"] | None = None
    """Numbers known of the graphs; latents are stored as such."""
    node_features: Float[Tensor, "B N f"] | None = None
    edge_features: Float[Tensor, "B N N g"] | None = None
    inputs: UInt8[Tensor, "B w"] | None = None
    """What the graphs are predicted from."""

    @classmethod
    def of(
        cls, batch: TrainingBatch, noise: Float[Tensor, "B ..."], device: torch.device
    ) -> StepInput:
        """Move a batch and its noise to the device."""
        graphs = batch.graphs.to(device)
        others = (batch.properties, graphs.node_features, graphs.edge_features, batch.inputs)
        moved = (None if each is None else each.to(device) for each in others)
        noise = noise.to(device)
        return cls(graphs.node_mask, graphs.node_labels, graphs.edge_labels, noise, *moved)

    def graphs(self, directed: bool) -> GraphBatch:
        """The graphs alone."""
        labels = self.node_labels, self.edge_labels
        features = self.node_features, self.edge_features
        return GraphBatch(self.node_mask, *labels, directed, *features)
