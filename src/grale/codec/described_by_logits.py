"""The description of an autoencoder whose decoder has no hidden states to pool."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from grale.codec.describe import describe_logits, dim_of_described_logits
from grale.codec.graph_autoencoder import GraphAutoencoder


class DescribedByLogits(GraphAutoencoder):
    """Autoencoder whose description pools what it predicts."""

    @property
    def description_dim(self) -> int:
        """Length of one description."""
        return dim_of_described_logits(self.space)

    def description_of(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B n_d"]:
        """Describe rows of latents by what is predicted from them."""
        return describe_logits(self.logits_of(latents))
