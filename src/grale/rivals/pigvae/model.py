"""PIGVAE: an autoencoder that learns to order nodes (Winter et al. 2021; paper: "PIGVAE").

    z, m  = encoder(G)
    P     = permuter(m)
    G_hat = decoder(z, P),   n_hat = MLP(z)
    loss  = CE(G, G_hat) + entropy(P) + |n - n_hat|^2

The decoder orders nodes by rank. The permuter says which rank each input node has; only training
needs it. One size head serves both ways the paper measures: with the number of nodes given
(`rebuild` with `at_size`), or predicted.

Departures: the model is deterministic unless `kl_weight` is above 0; then the latent of a graph is
mu. See also each part.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from grale.codec.described_by_logits import DescribedByLogits
from grale.codec.encoded_batch import EncodedBatch
from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch
from grale.graphs.permute import permute_batch
from grale.graphs.space import GraphSpace
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.decoder import PigvaeDecoder, SizeHead
from grale.rivals.pigvae.encoder import PigvaeEncoded, PigvaeEncoder
from grale.rivals.pigvae.loss import permutation_entropy, reconstruction_terms
from grale.rivals.pigvae.permuter import Permuter


class PigvaeNoise(NamedTuple):
    """Randomness of one step, unpacked."""

    latent: Float[Tensor, "B z"]
    """For the draw of the latent; no columns if the model is deterministic."""
    nodes: Float[Tensor, "B N d"]
    """For the permuter."""


class PigvaePass(NamedTuple):
    """Result of one pass over a training batch."""

    encoded: PigvaeEncoded
    permutation: Float[Tensor, "B N N"]
    """Node x rank, soft."""
    logits: GraphLogits
    """In the order of the input's nodes."""
    size: Float[Tensor, " B"]
    """Standardised number of nodes."""


class PIGVAE(DescribedByLogits):
    """Permutation-invariant graph autoencoder, variational or not."""

    adam_weights: ClassVar = ("size_head",)

    architecture = "pigvae"
    config_class = PigvaeConfig

    def __init__(self, space: GraphSpace, config: PigvaeConfig) -> None:
        super().__init__(space, config)
        self.encoder = PigvaeEncoder(space, config)
        self.permuter = Permuter(space, config)
        self.decoder = PigvaeDecoder(space, config)
        self.size_head = SizeHead(space, config)

    def forward(self, graphs: GraphBatch, noise: Float[Tensor, "B z"]) -> PigvaePass:
        """Encode, order, decode at the true size; `noise` comes from `draw_noise`."""
        parts = self.unpacked(noise, graphs.max_nodes)
        encoded = self.encoder(graphs)
        permutation = self.permuter(encoded.nodes, graphs.node_mask, parts.nodes)
        latents = encoded.draw(parts.latent)
        logits = self.decoder(latents, permutation, graphs.node_mask)
        return PigvaePass(encoded, permutation, logits, self.size_head(latents))

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B z"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, and each unweighted term under its name."""
        result, config = self(graphs, noise), self.config
        error = result.size - self.size_head.standardised(graphs.num_nodes)
        terms = reconstruction_terms(graphs, result.logits)
        terms["entropy"] = permutation_entropy(result.permutation, graphs.node_mask)
        terms["size"] = error.square().mean()
        loss = terms["node_label"] + terms["edge_label"]
        loss = loss + config.entropy_weight * terms["entropy"] + config.size_weight * terms["size"]
        if result.encoded.posterior is not None:
            terms["kl"] = result.encoded.posterior.divergence().mean()
            loss = loss + config.kl_weight * terms["kl"]
        return {"loss": loss, **terms}

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B z"]:
        """Noise of the latent, then of each node's state, side by side."""
        width = self._noise_dim + self.space.max_nodes * self.config.message_dim
        noise = torch.randn(count, width, generator=generator, device=generator.device)
        return noise.to(self.permuter.noise_table)

    def unpacked(self, noise: Float[Tensor, "B z"], width: int) -> PigvaeNoise:
        """Undo the packing of `draw_noise`, for a batch of `width` columns."""
        nodes = noise[:, self._noise_dim :].unflatten(1, (-1, self.config.message_dim))
        return PigvaeNoise(noise[:, : self._noise_dim], nodes[:, :width])

    @property
    def _noise_dim(self) -> int:
        return self.latent_dim if self.config.is_variational else 0

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.latent_dim

    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents at the predicted sizes, nodes by rank."""
        return self.decoder.in_rank_order(latents, self.size_head.count(latents))

    def encoded(self, graphs: GraphBatch) -> EncodedBatch:
        """Latents (means, if the model is variational), and the order of the scores.

        The order says which rank each input node has. Nodes whose rank exceeds the predicted size
        are missing; ranks beyond the true size follow in the columns after the input's.
        """
        encoded = self.encoder(graphs)

        def rebuild(latents: Float[Tensor, "B Z"], at_size: bool) -> GraphBatch:
            num_nodes = graphs.num_nodes if at_size else self.size_head.count(latents)
            found = self.decoder.in_rank_order(latents, num_nodes).most_likely(self.space.directed)
            ranks = self.permuter.hard(encoded.nodes, graphs)
            beyond = torch.arange(graphs.max_nodes, self.space.max_nodes, device=ranks.device)
            return permute_batch(found, torch.cat([ranks, beyond.expand(len(ranks), -1)], dim=1))

        return EncodedBatch(encoded.latent, rebuild)
