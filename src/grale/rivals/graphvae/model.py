"""GraphVAE (Simonovsky & Komodakis 2018; GRALE paper: "Reconstruction performances").

    q(z | G)  = encoder(G),   z = mu + sigma * noise
    A~, E~, F~ = decoder(z)
    X         = Hungarian(max-pooling matching of G and A~, E~, F~), without gradient
    loss      = - log p(G | z, X) + weight * KL(q(z | G) || N(0, I))

Graphs are embedded by mu and reconstructed from it.

Departures: see each part. Training batches hold graphs of all sizes: in a batch of one size, batch
normalisation would hide the size.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grale.codec.described_by_logits import DescribedByLogits
from grale.codec.encoded_batch import EncodedBatch
from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch
from grale.graphs.permute import permute_batch
from grale.graphs.space import GraphSpace
from grale.nn.gaussian import GaussianLatent
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.graphvae.decoder import GraphVaeDecoder, Prediction, connect
from grale.rivals.graphvae.encoder import GraphVaeEncoder
from grale.rivals.graphvae.loss import ReconstructionTerms, reconstruction_terms
from grale.rivals.graphvae.matching import match


class MatchedPrediction(NamedTuple):
    """Result of one pass over a batch."""

    latent: GaussianLatent
    prediction: Prediction
    permutation: Int[Tensor, "B M"]
    """Which slot plays which node."""
    terms: ReconstructionTerms


class GraphVAE(DescribedByLogits):
    """Variational autoencoder with a one-shot decoder and approximate graph matching."""

    architecture = "graphvae"
    config_class = GraphVaeConfig
    groups_by_size = False

    def __init__(self, space: GraphSpace, config: GraphVaeConfig) -> None:
        super().__init__(space, config)
        if config.spanning_tree and space.directed:
            raise ValueError("spanning_tree=True needs undirected graphs; leave it out")
        self.encoder = GraphVaeEncoder(space, config)
        self.decoder = GraphVaeDecoder(space, config)

    def forward(self, graphs: GraphBatch, noise: Float[Tensor, "B Z"]) -> MatchedPrediction:
        """Encode, sample, decode, match and compare."""
        latent = self.encoder(graphs)
        prediction = self.decoder(latent.sample(noise))
        padded = graphs.padded_to(self.space.max_nodes)
        permutation = match(padded, prediction, self.config.matching_iterations)
        terms = reconstruction_terms(padded, prediction.reordered(permutation))
        return MatchedPrediction(latent, prediction, permutation, terms)

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B Z"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, and each unweighted term under its name."""
        result = self(graphs, noise)
        divergence = result.latent.divergence().mean()
        return {
            "loss": result.terms.total().mean() + self.config.kl_weight * divergence,
            **result.terms.means(),
            "kl": divergence.detach(),
        }

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B Z"]:
        """Standard normal noise on the latents of one step."""
        shape = (count, self.latent_dim)
        noise = torch.randn(shape, generator=generator, device=generator.device)
        return noise.to(next(self.parameters()))

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.latent_dim

    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents; see `Prediction.to_graph_logits`."""
        return self._graph_logits(self.decoder(latents), None)

    def encoded(self, graphs: GraphBatch) -> EncodedBatch:
        """Means of the posterior; the matching says which slot plays which input node."""

        def rebuild(latents: Float[Tensor, "B Z"], at_size: bool) -> GraphBatch:
            prediction = self.decoder(latents)
            padded = graphs.padded_to(self.space.max_nodes)
            permutation = match(padded, prediction, self.config.matching_iterations)
            num_nodes = graphs.num_nodes if at_size else None
            logits = self._graph_logits(prediction, num_nodes)
            return permute_batch(logits.most_likely(self.space.directed, num_nodes), permutation)

        return EncodedBatch(self.encoder(graphs).mean, rebuild)

    def _graph_logits(
        self, prediction: Prediction, num_nodes: Int[Tensor, " B"] | None
    ) -> GraphLogits:
        logits = prediction.to_graph_logits()
        if self.config.spanning_tree:
            found = logits.most_likely(self.space.directed, num_nodes)
            logits = connect(logits, found.node_mask)
        return logits
