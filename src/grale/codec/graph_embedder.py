"""Models that embed graphs and cannot give them back: what the paper compares embeddings with.

They are trained, saved, loaded and asked for embeddings as autoencoders are. An embedding is its
own description. Whatever needs a decoder raises `CannotDecodeError`.
"""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from grale.codec.encoded_batch import EncodedBatch
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch


class CannotDecodeError(ValueError):
    """A model without a decoder was asked for graphs."""


class GraphEmbedder(GraphAutoencoder):
    """An encoder of the graphs of one space, without a decoder."""

    decodes = False

    @abstractmethod
    def vectors_of(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Embeddings of a batch; nothing random."""

    def encoded(self, graphs: GraphBatch) -> EncodedBatch:
        """Embeddings of a batch; there is no way back."""
        return EncodedBatch(self.vectors_of(graphs), self._rebuild)

    @property
    def description_dim(self) -> int:
        """Length of one description."""
        return self.latent_dim

    def description_of(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B Z"]:
        """Return the embeddings themselves: they are made to compare graphs by."""
        return latents

    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Raise: there is no decoder."""
        raise self._refusal()

    def _rebuild(self, latents: Float[Tensor, "B Z"], at_size: bool) -> GraphBatch:
        raise self._refusal()

    def _refusal(self) -> CannotDecodeError:
        return CannotDecodeError(
            f"{self.architecture} embeds graphs but has no decoder, so graphs cannot come back; "
            "use encode, or a model of grale, pigvae or graphvae"
        )
