"""GRALE: a graph in, a vector, a graph out (paper: "GRALE architecture", algorithm "GRALE Loss").

    Z, X         = encoder(phi(x))
    G_hat, X_hat = decoder(Z)
    T            = matcher(X, X_hat)
    loss         = L_OT(phi*(x), G_hat, T)

`forward` is that algorithm on a padded batch. What users call (`encode`, `decode`, `reconstruct`)
is in `graph_autoencoder.py`; `match` is here.

Departures: with pooling=transport the encoder asks the matcher itself, before decoding, and T is
its plan (decisions/012); each other part names its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from grale.graphs.batch import GraphBatch
from grale.graphs.permute import gather_edges, gather_nodes
from grale.graphs.space import GraphSpace
from grale.model import pairs
from grale.model.config import ModelConfig
from grale.model.decoder import Decoder, GraphLogits
from grale.model.encoder import Encoder
from grale.model.gin_encoder import GinEncoder
from grale.model.graph_autoencoder import GraphAutoencoder
from grale.model.loss import LossTerms, reconstruction_loss
from grale.model.matcher import SinkhornMatcher
from grale.model.refined_encoding import Refinement
from grale.model.softsort_matcher import SoftSortMatcher
from grale.model.transformer_decoder import TransformerGraphDecoder
from grale.model.transport_encoder import TransportEncoder
from grale.transport.assignment import assign

ENCODERS = {"evoformer": Encoder, "gin": GinEncoder}
DECODERS = {"evoformer": Decoder, "transformer": TransformerGraphDecoder}
MATCHERS = {"sinkhorn": SinkhornMatcher, "softsort": SoftSortMatcher}


class Reconstruction(NamedTuple):
    """What one pass over a batch gives."""

    logits: GraphLogits
    log_plan: Float[Tensor, "B N N"]
    latent: Float[Tensor, "B K D"]
    terms: LossTerms
    marginal_error: Float[Tensor, " B"]


class GRALE(GraphAutoencoder):
    """Graph-level autoencoder over the graphs of one space."""

    architecture = "grale"
    config_class = ModelConfig

    def __init__(self, space: GraphSpace, config: ModelConfig) -> None:
        super().__init__(space, config)
        by_transport = config.pooling == "transport"
        encoder = TransportEncoder if by_transport else ENCODERS[config.encoder]
        self.encoder = encoder(space, config)
        self.featurizer = self.encoder.featurizer
        self.decoder = DECODERS[config.decoder](space, config, self.featurizer)
        self.matcher = MATCHERS[config.matcher.kind](config.node_dim, config.matcher)

    def forward(
        self, graphs: GraphBatch, noise: Float[Tensor, "B N n_f"] | None = None
    ) -> Reconstruction:
        """Encode, decode, match and compare; `noise` as in `Featurizer.forward`."""
        inputs = self.featurizer(graphs, noise)
        encoded = self.encoder(inputs, self.matcher)
        slots, logits = self.decoder(encoded.latent)
        log_plan, marginal_error = encoded.plan or self.matcher(encoded.nodes, slots)
        targets = self.featurizer.targets(inputs)
        terms = reconstruction_loss(targets, logits, log_plan, self.config.loss)
        return Reconstruction(logits, log_plan, encoded.latent, terms, marginal_error)

    def losses(
        self, graphs: GraphBatch, noise: Float[Tensor, "B N n_f"]
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, each unweighted term under its name, and the marginal error."""
        result = self(graphs, noise)
        return {
            "loss": result.terms.total(self.config.loss),
            **result.terms.means(),
            "marginal_error": result.marginal_error.max(),
        }

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B N n_f"]:
        """Noise on the input features of one step."""
        return self.featurizer.draw_noise(count, generator)

    def recompute_activations(self, wanted: bool) -> None:
        """Trade time for memory in training: recompute layers in the backward pass, or not."""
        self.encoder.recompute_activations(wanted)
        self.decoder.recompute_activations(wanted)

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row, K x D."""
        return self.config.num_tokens * self.config.token_dim

    def embed(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Latents, their tokens side by side."""
        return self.encoder(self.featurizer(graphs), self.matcher).latent.flatten(1)

    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents."""
        return self.decoder(self._tokens(latents)).logits

    def _tokens(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B K D"]:
        return latents.unflatten(1, (self.config.num_tokens, self.config.token_dim))

    def start_refining(self, graphs: GraphBatch) -> Refinement:
        """Encode once; what is left is to decode, match and compare again and again."""
        inputs = self.featurizer(graphs)
        nodes, latent, plan = self.encoder(inputs, self.matcher)
        targets = self.featurizer.targets(inputs)

        def compare(
            latents: Float[Tensor, "R Z"], rows: list[int]
        ) -> tuple[GraphLogits, Float[Tensor, " R"]]:
            slots, logits = self.decoder(self._tokens(latents))
            log_plan = plan.log_plan[rows] if plan else self.matcher(nodes[rows], slots).log_plan
            terms = reconstruction_loss(targets[rows], logits, log_plan, self.config.loss)
            return logits, terms.per_graph(self.config.loss)

        return Refinement(latent.flatten(1), compare)

    def rebuild(
        self, graphs: GraphBatch, at_size: bool, latents: Float[Tensor, "B Z"] | None = None
    ) -> GraphBatch:
        """Reconstruct; the matcher says which slot plays which input node."""
        nodes, latent, plan = self.encoder(self.featurizer(graphs), self.matcher)
        slots, logits = self.decoder(latent if latents is None else self._tokens(latents))
        permutation = assign(plan.log_plan) if plan else self.matcher.hard(nodes, slots)
        found = logits.most_likely(self.space.directed, graphs.num_nodes if at_size else None)
        return GraphBatch(
            gather_nodes(found.node_mask, permutation),
            gather_nodes(found.node_labels, permutation),
            gather_edges(found.edge_labels, permutation),
            found.directed,
        )

    def match(self, first: Any, second: Any, tries: int = 1) -> pairs.Match:
        """Node correspondence of two graphs, with the edit distance it costs (an upper bound).

        With more `tries`, the graphs are encoded under so many draws of the noise, and the
        cheapest mapping is kept.
        """
        return self.match_many([(first, second)], tries=tries)[0]

    def match_many(
        self, graphs: Sequence[tuple[Any, Any]], batch_size: int = 256, tries: int = 1
    ) -> list[pairs.Match]:
        """Node correspondences of many pairs, in order; each distinct graph is encoded once.

        `tries` as in `match`.
        """
        return pairs.match_many(self, graphs, batch_size, tries)
