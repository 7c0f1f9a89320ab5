"""The description: what a latent says about its graph, whichever slot plays which node.

    description = pool(F_Q^L, C_Q^L; h_hat, C_hat)           `grale.codec.describe.pool_states`

F_Q^L and C_Q^L are the hidden states of the decoder. The description depends on the latent alone,
exists for every latent and is differentiable (decisions/013). `DescriptionHeads` holds the linear
layers that are trained on it.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.codec.describe import pool_states, pooled_dim
from grale.graphs.batch import GraphBatch
from grale.graphs.colours import NUM_COUNTS, colour_counts
from grale.model.config import ModelConfig
from grale.model.decoder import Decoded

MOST_DEVIATIONS = 5.0  # targets are clamped here: a few molecules are extreme
SPREAD_MOMENTUM = 0.01


def description_dim(config: ModelConfig) -> int:
    """Length of the description."""
    return pooled_dim(config.node_dim, config.edge_dim)


def pool_decoded(decoded: Decoded) -> Float[Tensor, "B n_d"]:
    """Pool the decoder's states over slots and bonds, weighted by their probability."""
    return pool_states(decoded.hidden.nodes, decoded.hidden.pairs, decoded.logits)


class DescriptionHeads(nn.Module):
    """Linear layers from the description to what it is trained to predict."""

    adam_weights: ClassVar = ("count_head", "property_head")

    count_mean: Float[Tensor, " n"]
    count_square: Float[Tensor, " n"]
    steps: Tensor
    property_mean: Float[Tensor, " p"]
    property_deviation: Float[Tensor, " p"]

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config.description
        dim = description_dim(config)
        if self.config.counts:
            self.count_head = nn.Linear(dim, NUM_COUNTS)
            self.register_buffer("count_mean", torch.zeros(NUM_COUNTS))
            self.register_buffer("count_square", torch.ones(NUM_COUNTS))
            self.register_buffer("steps", torch.zeros(()))
        if self.knows_properties:
            size = len(self.config.property_names)
            self.property_head = nn.Linear(dim, size)
            self.register_buffer("property_mean", torch.zeros(size))
            self.register_buffer("property_deviation", torch.ones(size))

    @property
    def knows_properties(self) -> bool:
        """Whether there are properties to learn."""
        return self.config.properties > 0 and len(self.config.property_names) > 0

    def set_spread(self, means: tuple[float, ...], deviations: tuple[float, ...]) -> None:
        """Set the mean and deviation of each property over the dataset."""
        self.property_mean.copy_(torch.tensor(means))
        self.property_deviation.copy_(torch.tensor(deviations))

    def losses(
        self,
        decoded: Decoded,
        graphs: GraphBatch,
        properties: Float[Tensor, "B p"] | None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Mean squared errors, in standard deviations, under the names of their weights."""
        terms: dict[str, Float[Tensor, ""]] = {}
        if not self.config.counts and not self.knows_properties:
            return terms
        description = pool_decoded(decoded)
        if self.config.counts:
            targets = self._standard_counts(graphs)
            terms["counts"] = (self.count_head(description) - targets).square().mean()
        if self.knows_properties and properties is not None:
            known = properties.isfinite()
            targets = (properties - self.property_mean) / self.property_deviation
            targets = targets.nan_to_num().clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
            errors = (self.property_head(description) - targets).square() * known
            terms["properties"] = errors.sum() / known.sum().clamp_min(1)
        return terms

    @torch.no_grad()
    def _standard_counts(self, graphs: GraphBatch) -> Float[Tensor, "B n"]:
        """log(1 + count), standardised with running statistics."""
        values = colour_counts(graphs).log1p()
        if self.training:
            self.steps += 1
            share = max(SPREAD_MOMENTUM, 1 / float(self.steps))
            self.count_mean.lerp_(values.mean(dim=0), share)
            self.count_square.lerp_(values.square().mean(dim=0), share)
        deviation = (self.count_square - self.count_mean.square()).clamp_min(1e-3).sqrt()
        targets = (values - self.count_mean) / deviation
        return targets.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
